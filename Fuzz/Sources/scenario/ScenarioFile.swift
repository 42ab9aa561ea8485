import Adapter
import Bluetooth
import FoundationEssentials
import Fuzzing
import JSONFiles
import ScenarioRules

/// The files that people write: scenarios, and the numbers that move by their rules; configurations; services to serve.
@main
enum ScenarioFile {
  static func main() {
    fuzz { octets in
      do throws(FileError) {
        _ = try JSONFile.parse(octets, name: "file")
      } catch {
        check(error, octets)
        // The files have no form of their own below this.
        return
      }
      do throws(FileError) {
        let scenario = try Scenario(json: String(decoding: octets, as: UTF8.self))
        for device in scenario.devices { check(device) }
        for phone in scenario.phones { check(phone.signal, [phone.connectDelay, phone.stay]) }
      } catch {
        check(error, octets)
      }
      do throws(FileError) {
        let configuration = try Configuration(octets, file: "file")
        invariant(!configuration.adapters.names.isEmpty, "no adapter")
        invariant(configuration.keysForRestart(after: configuration).isEmpty, "differs from itself")
      } catch {
        check(error, octets)
      }
      do throws(FileError) {
        let file = try ServiceFile(try JSONFile.parse(octets, name: "file"))
        let changes = file.services.flatMap(\.characteristics).compactMap(\.changes)
        invariant(changes.allSatisfy { !$0.values.isEmpty && $0.every > 0 }, "changes without a value or a pause")
      } catch {
        check(error, octets)
      }
    }
  }

  /// Every mistake has a place in the text.
  private static func check(_ error: FileError, _ octets: some Collection<UInt8>) {
    let lines = octets.count { $0 == UInt8(ascii: "\n") } + 1
    guard let place = error.place else { return invariant(false, "a mistake without a place") }
    invariant((1...lines).contains(place.line), "line \(place.line) of \(lines)")
    invariant((1...octets.count + 1).contains(place.column), "column \(place.column)")
    invariant(!error.message.isEmpty && !error.description.contains("\n"), "refused without a word, or with too many")
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
