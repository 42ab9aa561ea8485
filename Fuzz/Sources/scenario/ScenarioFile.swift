import Bluetooth
import Fuzzing

/// Scenario files, and the numbers that move by their rules.
@main
enum ScenarioFile {
  static func main() {
    fuzz { octets in
      do throws(ScenarioError) {
        let scenario = try Scenario(json: String(decoding: octets, as: UTF8.self))
        for device in scenario.devices { check(device) }
        for phone in scenario.phones { check(phone.signal, [phone.connectDelay, phone.stay]) }
      } catch {
        invariant(!error.description.isEmpty, "refused without a word")
      }
    }
  }

  private static func check(_ device: DeviceDescription) {
    invariant(device.data.count <= 31 && device.scanResponse.count <= 31, "an advertisement that is too long")
    check(device.signal, [device.connectDelay, device.responseDelay])
    for characteristic in device.services.flatMap(\.characteristics) {
      invariant(characteristic.value.template.count <= ValueDescription.longest, "a value that is too long")
      guard case .number(let rule) = characteristic.value.rule else { continue }
      var number = MovingNumber(rule, generator: SeededGenerator(seed: 1, stream: 2))
      for seconds in [0.0, 0.5, 3.25, 40.0, 31_536_000.0] as [Double] {
        let value = number.value(at: .seconds(seconds), in: characteristic.value.template)
        invariant(value.count <= ValueDescription.longest, "a value that grew to \(value.count) octets")
      }
    }
  }

  private static func check(_ description: SignalDescription, _ times: [TimeSpan]) {
    let signal = Signal(description, generator: SeededGenerator(seed: 1, stream: 2))
    for _ in 0..<3 {
      let strength = signal.next()
      invariant((-127...20).contains(strength), "\(strength) dBm")
    }
    var generator = SeededGenerator(seed: 3, stream: 4)
    for time in times { invariant(time.range.contains(time.draw(&generator)), "a time out of its range") }
  }
}
