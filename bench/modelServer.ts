// The tests' model server as a process of the bench; it takes its options from the command line.
import '../test/model-server/main';
