// One contestant of one scenario, alone in its process: no other contestant's heap is collected on its time, and
// no other's types make its code slower. Runs a round whenever it is told to.
const { workload, scenario, contestant, settings } = JSON.parse(process.argv[2]);

const { start } = await import(`../workloads/${workload}.mjs`);
const session = await start({ scenario, contestant, settings });

process.on('disconnect', () => process.exit());
process.on('message', () => {
  session.round().then(
    (figures) => process.send({ figures }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
process.send({ isReady: true });
