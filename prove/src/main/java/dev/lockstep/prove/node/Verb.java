package dev.lockstep.prove.node;

import dev.lockstep.prove.history.Fields;

/** One thing that a node can be told to do. */
@FunctionalInterface
public interface Verb {
  Answer run(Fields fields) throws Exception;
}
