import Adapter
import Bluetooth
import HCI
import OrderedCollections

/// The inputs of a controller's machines.
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
  /// Send a command about a train; the answer comes under a number.
  case train(Int, TrainCommand)
  /// Send this in a subevent of an advertisement's train, once; the answer comes under a number.
  case setSubevent(Int, SubeventData, AdvertisingSetID)
  /// A command without interest in its answer.
  case command(CommandPacket)
  case event(HCIEvent)
  /// The controller's state is not known: another owner left it so, or events were lost.
  case doubt
  /// These are the links that there are, as an answer to `doubt`, or because one was not known.
  case links([ExistingLink])
  /// A scan that is on has received nothing for long: begin it anew.
  case renewScan
  /// The deadline is over.
  case tick
  /// Cancel everything that is wanted, and tell when nothing goes on any more.
  case quiet
  /// The same for a while: the trains that are followed stay. `resume` comes next.
  case pause
  /// After `pause`: go on under this address, with the present requests.
  case resume(DeviceAddress, RadioTargets)
}

/// A link that there is, whether or not the controller's event about it was heard.
package struct ExistingLink: Hashable {
  package var handle: UInt16
  package var role: LinkRole
  /// Its identity, where the kernel knows that; its type may be a guess.
  package var peer: DeviceAddress

  package init(handle: UInt16, role: LinkRole, peer: DeviceAddress) {
    self.handle = handle
    self.role = role
    self.peer = peer
  }

  /// Whether its device can be this one, which may have been heard under a private address that only the kernel can
  /// resolve (Core 5.4, Vol 6, Part B, 1.3.2.2).
  func mayBe(_ device: DeviceAddress) -> Bool {
    peer.value == device.value || (device.kind == .random && device.value >> 46 == 0b01)
  }
}

/// The wanted activities of a controller; it starts with these when it is switched on.
package struct RadioTargets: Hashable {
  package var scan: ScanParameters?
  package var advertising: OrderedDictionary<AdvertisingSetID, AdvertisingParameters> = [:]
  package var syncs: OrderedDictionary<PeriodicTrain, SyncParameters> = [:]
  package var connects: OrderedDictionary<DeviceAddress, ConnectionParameters> = [:]

  package init(scan: ScanParameters? = nil) { self.scan = scan }
}

/// The machines of one controller without the families that they are made for.
package protocol RadioMachine {
  mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioAction]
  /// Receives the scan's reports. It is many times more than anything else, and leads to no other action; a `tick`
  /// follows if it `hasHeardAbsentDevice`.
  mutating func heard(_ reports: AdvertisingReports, at now: Instant) -> [AdvertisingReport]
  /// Whether a device that is to be connected was heard, for which the scan had listened.
  var hasHeardAbsentDevice: Bool { get }
  func deadline(after now: Instant) -> Instant?
  /// The command that the controller executes.
  var slot: CommandSlot { get }
  /// Whether an active scan was run since the controller came on.
  var scannedActively: Bool { get }
  /// Whether the controller has links.
  var hasLinks: Bool { get }
}
