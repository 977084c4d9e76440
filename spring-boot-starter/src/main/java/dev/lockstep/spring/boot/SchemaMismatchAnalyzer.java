package dev.lockstep.spring.boot;

import dev.lockstep.migration.SchemaMismatch;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do if Lockstep's tables are missing or old. */
final class SchemaMismatchAnalyzer extends AbstractFailureAnalyzer<SchemaMismatch> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, SchemaMismatch cause) {
    return new FailureAnalysis(
        cause.getMessage(),
        "Set lockstep.schema.migrations=apply to have this application migrate the schema lockstep,"
            + " or run Migrations.apply, or the scripts in classpath:db/lockstep, with the role that"
            + " may.",
        cause);
  }
}
