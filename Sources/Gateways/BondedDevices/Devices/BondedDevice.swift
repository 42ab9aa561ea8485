import BledRPC
import Bluetooth

/// An input of bled to the machine of a bonded device.
package enum DeviceInput<Call: DeviceCall>: Sendable {
  case begin
  case answer(Call, Result<DeviceAnswer, BluetoothError>)
  /// The link was established again.
  case connected(adapter: String)
  case disconnected(isReconnecting: Bool)
  /// A link that was lost does not come back by itself.
  case connectFailed(BluetoothError)
  /// The connection interval in seconds, if it is known, and the ATT MTU.
  case parametersChanged(interval: Double?, mtu: Int)
  case servicesChanged
  case subscriptionLost(UInt16)
  /// Some values were lost.
  case valuesLost
  case value(UInt16, [UInt8])
  case sessionLost
  /// The device has paired anew, and may be another one than before.
  case paired
  /// The keys are gone.
  case forgotten
}

/// An action of the machine of a bonded device.
package enum DeviceAction<Call: DeviceCall, Output: Hashable>: Hashable {
  case call(Call)
  /// `begin` is expected after a pause.
  case pause(Duration)
  /// For the system that the device is passed on to.
  case output(Output)
  case say(String)
  /// The discovery has shown whether the device has the service.
  case learned(hasService: Bool)
}

/// A bonded device that a gateway passes on to another system of this machine.
package protocol BondedDevice {
  associatedtype Call: DeviceCall
  /// An event of the other system.
  associatedtype Event
  /// A request to it.
  associatedtype Output: Hashable
  typealias Input = DeviceInput<Call>
  typealias Action = DeviceAction<Call, Output>

  init(_ bond: BondDescription)
  var link: DeviceLink<Call> { get }
  /// The bond, with the identity address.
  var bond: BondDescription { get set }
  /// Whether the other system uses it.
  var isWorking: Bool { get }
  mutating func handle(_ input: Input) -> [Action]
  mutating func handle(_ event: Event) -> [Action]
}

/// The system of this machine that bonded devices are passed on to.
package protocol DeviceSystem: AnyObject {
  associatedtype Device: BondedDevice
  /// The name of the session at bled.
  static var name: String { get }
  /// The devices, such as "keyboards".
  static var kind: String { get }
  /// Performs a request of a device; `received` gets later events, never from inside this call.
  func perform(
    _ request: Device.Output, of device: DeviceAddress, _ received: @escaping (Device.Event) -> Void
  ) -> DeviceOutcome<Device.Event>
  /// Ends all devices.
  func close()
}

/// The outcome of a request to the other system.
package enum DeviceOutcome<Event> {
  case done
  /// The system has accepted the device.
  case opened
  /// A refusal with its remedy, and the event that the device gets.
  case refused(String, Event)
}
