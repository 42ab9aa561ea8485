import Bluetooth
import Fuzzing
import JSONFiles
import MQTTGateway

/// A broker that sends anything to a gateway, a bled that answers or fails, and the files that people write.
@main
enum MQTTTarget {
  /// The processor's time for a file, with the sanitizers.
  private static let longest = Duration.seconds(2)

  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      if input.octet() & 7 == 0 {
        let text = input.expanded(to: 256 << 10)
        let time = processorTime { read(text) }
        invariant(time < longest, "a file of \(text.count) octets took \(time)")
      } else if let run = GatewayRun(&input) {
        while !input.isEmpty { run.step(&input) }
        run.end()
      }
    }
  }

  private static func read(_ text: [UInt8]) {
    do throws(FileError) {
      let configuration = try GatewayConfiguration(text, file: "file", hostName: "host")
      invariant(configuration.devices.count <= 64, "\(configuration.devices.count) devices")
      invariant(configuration.spoolLimit > 0, "no spool")
      invariant(
        GatewayRun.isPublishable(configuration.topics.status), "the topic \(configuration.topics.status)")
      let again = try? GatewayConfiguration(text, file: "file", hostName: "host")
      invariant(again == configuration, "read again it is another")
    } catch {
      invariant(error.place != nil && !error.message.isEmpty, "refused without a place or a word: \(error)")
      invariant(error.description.utf8.count < 4096, "a message of \(error.description.utf8.count) octets")
    }
  }
}
