import { testDroppedConnections } from './dropped-connections.js';

testDroppedConnections(6);
