import BledRPC
import Bluetooth

/// The known reason for the missing link of a configured device, with the remedy.
enum Absence: Hashable, CustomStringConvertible {
  /// bled has never received the device since its start.
  case notReceived
  /// bled received the device so many seconds ago for the last time.
  case silent(Int)
  /// The device advertises without accepting connections.
  case notConnectable
  /// bled receives the device, but no connection is established.
  case received

  /// A device that was received within this time, in seconds, is in reach.
  private static let recent = 60.0

  /// Finds the reason.
  /// - Parameter known: the devices that bled knows.
  init(of device: SubscribedDevice, in known: [PeripheralList.Entry]) {
    let found = known.first { $0.address.hasSameOctets(as: "\(device.address)") }
    self =
      switch found?.sinceReport {
      case nil: .notReceived
      case let seconds? where seconds > Self.recent: .silent(Int(min(seconds, 1e9)))
      case _?: found?.connectable == false ? .notConnectable : .received
      }
  }

  var description: String {
    switch self {
    case .notReceived:
      "bled has not received it: check its battery, its distance, and the address in the configuration"
    case .silent(let seconds):
      "bled received it \(seconds) s ago for the last time: check its battery and its distance"
    case .notConnectable:
      "it advertises without accepting connections: another machine may be connected to it, or it needs a key pressed"
    case .received:
      "bled receives it, and no connection is established: it may be connected to another machine, or too far away"
    }
  }
}
