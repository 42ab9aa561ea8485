import BledCore
import Bluetooth
import Fuzzing
import JSONFiles

/// The daemon's configuration: it is read or refused with a place, quickly, and means the same whenever it is read.
@main
enum ConfigurationFile {
  /// The processor's time for a file, with the sanitizers.
  private static let longest = Duration.seconds(2)

  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let text = input.expanded(to: 256 << 10)
      let time = processorTime { read(text) }
      invariant(time < longest, "a file of \(text.count) octets took \(time)")
    }
  }

  private static func read(_ text: [UInt8]) {
    do throws(FileError) {
      let configuration = try Configuration(text, file: "file")
      invariant(!configuration.adapters.names.isEmpty, "no adapter")
      invariant(configuration.socket.mode <= 0o777, "the mode \(configuration.socket.mode)")
      invariant(configuration.keysForRestart(after: configuration).isEmpty, "differs from itself")
      invariant(
        configuration.limits.perUser.values.allSatisfy { $0 > 0 }, "a limit of nothing: \(configuration.limits)")
      invariant((try? Configuration(text, file: "file")) == configuration, "read again it is another")
    } catch {
      invariant(error.place != nil && !error.message.isEmpty, "refused without a place or a word: \(error)")
      invariant(error.description.utf8.count < 4096, "a message of \(error.description.utf8.count) octets")
    }
  }
}
