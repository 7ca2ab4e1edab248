"""The evaluation harness: corpora, tasks, metrics, runner, reports. Imports the library, never the other way round."""
