import BledRPC
import Bluetooth

extension HIDDevice {
  /// A call of bled.
  enum Call: Hashable {
    case connect
    case disconnect
    /// The protection of the link.
    case parameters
    case discover
    case read(UInt16)
    case subscribe(UInt16)
    case write(UInt16, [UInt8], response: Bool)
    /// The kernel waits for these: the index of the HID service, and the number of the request.
    case get(UInt16, service: Int, request: UInt32)
    case set(UInt16, [UInt8], response: Bool, service: Int, request: UInt32)
  }

  /// The result of a call that succeeded.
  enum Answer {
    case done
    /// The address of the adapter that has the link.
    case connected(adapter: String)
    /// The level of the link; nil without encryption.
    case parameters(SecurityLevel?)
    case services([ServiceDescription])
    case value([UInt8], isWhole: Bool)
  }

  enum Input {
    case begin
    case answer(Call, Result<Answer, BluetoothError>)
    /// The link was established again.
    case connected(adapter: String)
    case disconnected(isReconnecting: Bool)
    /// A link that was lost does not come back by itself.
    case connectFailed(BluetoothError)
    case servicesChanged
    case subscriptionLost(UInt16)
    /// Some values were lost.
    case valuesLost
    case value(UInt16, [UInt8])
    case kernel(service: Int, UhidEvent)
    /// The kernel has refused a request for a HID service: its device is gone.
    case kernelFailed(service: Int)
    case sessionLost
    /// The device has paired anew, and may be another one than before.
    case paired
    /// The keys are gone.
    case forgotten
  }

  enum Action: Hashable {
    case call(Call)
    /// `begin` is expected after a pause.
    case pause(Duration)
    case kernel(service: Int, UhidRequest)
    case say(String)
    /// The discovery has shown whether the device has HID services.
    case learned(isHID: Bool)
  }
}
