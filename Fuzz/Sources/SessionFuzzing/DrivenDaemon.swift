import Adapter
import BledRPC
import Bluetooth
import Fuzzing
import SessionTestSupport

/// A bled that answers or fails as the input says, in virtual time.
package final class DrivenDaemon {
  package static let peripheral = "CC17"

  package let scripted = ScriptedDaemon()
  package let clock = VirtualScheduler()
  private var fails = false

  /// - Parameter check: called with the method of each call, before its answer.
  package init(_ check: @escaping (String) -> Void = { _ in }) {
    scripted.answer = { [unowned self] method, _, _ in
      check(method)
      guard !fails else { return .failure(GAPError.disconnected.error("it fails")) }
      return ScriptedDaemon.answer(method, peripheral: Self.peripheral)
    }
  }

  /// From now on calls fail, or succeed again.
  package func failOrRecover() { fails.toggle() }

  /// Runs until nothing is due at this time.
  package func settle() { scripted.settle(clock) }

  /// Tells the newest session of a device that was heard, several times.
  /// - Parameter change: completes the report.
  package func report(
    _ peripheral: String, _ input: inout FuzzInput,
    _ change: (inout ScanReport.Params, inout FuzzInput) -> Void = { _, _ in }
  ) {
    var report = ScanReport.Params(
      peripheral: peripheral, adapter: "hci0", address: "C0:DE:00:00:00:04", addressType: "random", connectable: true,
      data: HexBytes(input.packet()), time: 0)
    report.rssi = Int(input.octet()) - 128
    change(&report, &input)
    for _ in 0..<input.octet() { try? scripted.newest?.notify(ScanReport.self, report) }
  }

  /// Tells the newest session of a value, or of a change of the link or the services.
  package func tell(_ input: inout FuzzInput) { try? scripted.newest?.tell(Self.peripheral, &input) }
}
