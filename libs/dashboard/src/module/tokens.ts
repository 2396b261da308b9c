/** Injects the settings of a dashboard. */
export const DASHBOARD_SETTINGS = Symbol('ratelease:dashboard-settings');
