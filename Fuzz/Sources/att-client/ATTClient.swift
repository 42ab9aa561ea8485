import Bluetooth
import Fuzzing

/// Procedures of all kinds against a server that answers rightly, wrongly, or with anything.
@main
enum ATTClient {
  /// The steps of one input: enough for the longest procedures; more only take time.
  private static let maximum = 128

  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      var run = ClientRun(maximumMTU: 23 + Int(input.octet()) * 2)
      for _ in 0..<maximum where !input.isEmpty { run.step(&input) }
      run.endLink()
    }
  }
}
