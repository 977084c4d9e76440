/** Cron expressions for recurring jobs. */
module dev.lockstep.cron {
  requires transitive dev.lockstep.core;
  requires com.cronutils;
  requires static org.jspecify;

  exports dev.lockstep.cron;
}
