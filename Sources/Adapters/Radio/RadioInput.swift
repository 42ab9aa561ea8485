import Adapter
import Bluetooth
import HCI
import OrderedCollections

/// The inputs for a controller's machines.
package enum RadioInput: Hashable {
  case wantScan(ScanParameters?)
  case wantAdvertising(AdvertisingSetID, AdvertisingParameters?)
  case wantSync(PeriodicTrain, SyncParameters?)
  case connect(DeviceAddress, ConnectionParameters)
  case cancelConnect(DeviceAddress)
  /// The link has its ATT socket.
  case attached(DeviceAddress)
  /// The link got no ATT socket.
  case attachFailed(DeviceAddress, BluetoothError)
  /// A command with an answer under a number.
  case ask(Int, CommandPacket)
  /// Send a command about a train; the answer has this number.
  case train(Int, TrainCommand)
  /// Send this in a subevent of an advertisement's train, once; the answer carries the number.
  case setSubevent(Int, SubeventData, AdvertisingSetID)
  /// A command without interest in its answer.
  case command(CommandPacket)
  case event(HCIEvent)
  /// The controller's state is not known: another owner left it so, or events were lost.
  case doubt
  /// The existing links, after `doubt`, or because a link was unknown.
  case links([ExistingLink])
  /// A scan without any report for long: begin it anew.
  case renewScan
  /// The deadline is over.
  case tick
  /// Cancel everything wanted, and report when nothing runs any longer.
  case quiet
  /// Like `quiet`, for a while: followed trains stay. `resume` follows.
  case pause
  /// After `pause`: continue under this address, with the present requests.
  case resume(DeviceAddress, RadioTargets)
}

/// An existing link, even if the controller's event about it was missed.
package struct ExistingLink: Hashable {
  package var handle: UInt16
  package var role: LinkRole
  /// Its identity, if the kernel knows it; its type may be a guess.
  package var peer: DeviceAddress

  package init(handle: UInt16, role: LinkRole, peer: DeviceAddress) {
    self.handle = handle
    self.role = role
    self.peer = peer
  }

  /// True if its device can be this one, perhaps received with a private address that only the kernel can resolve (Core
  /// 5.4, Vol 6, Part B, 1.3.2.2).
  func mayBe(_ device: DeviceAddress) -> Bool {
    peer.value == device.value || (device.kind == .random && device.value >> 46 == 0b01)
  }
}

/// The activities wanted from a controller; it starts with these when it is switched on.
package struct RadioTargets: Hashable {
  package var scan: ScanParameters?
  package var advertising: OrderedDictionary<AdvertisingSetID, AdvertisingParameters> = [:]
  package var syncs: OrderedDictionary<PeriodicTrain, SyncParameters> = [:]
  package var connects: OrderedDictionary<DeviceAddress, ConnectionParameters> = [:]

  package init(scan: ScanParameters? = nil) { self.scan = scan }
}

/// A controller's machines, for any command families.
package protocol RadioMachine {
  mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioAction]
  /// Receives the scan's reports. It is many times more than anything else, and leads to no other action; a `tick`
  /// follows if it `hasHeardAbsentDevice`.
  mutating func received(_ reports: AdvertisingReports, at now: Instant) -> [AdvertisingReport]
  /// True if a device to be connected was received, for which the scan had listened.
  var hasHeardAbsentDevice: Bool { get }
  func deadline(after now: Instant) -> Instant?
  /// The command in progress.
  var slot: CommandSlot { get }
  /// True if an active scan ran since the controller was switched on.
  var scannedActively: Bool { get }
  /// True if the controller has links.
  var hasLinks: Bool { get }
}
