import BondedDevices

extension HIDDevice {
  /// A call of bled.
  package enum Call: DeviceCall {
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

    package var request: DeviceRequest {
      switch self {
      case .connect: .connect
      case .disconnect: .disconnect
      case .parameters: .parameters
      case .discover: .discover
      case .read(let handle), .get(let handle, _, _): .read(handle)
      case .subscribe(let handle): .subscribe(handle)
      case .write(let handle, let value, let response), .set(let handle, let value, let response, _, _):
        .write(handle, value, response: response)
      }
    }
  }

  package enum Event {
    case kernel(service: Int, UhidEvent)
    /// The kernel has refused a request for a HID service: its device is gone.
    case kernelFailed(service: Int)
  }

  /// A request to the kernel about the device of a HID service.
  package struct Output: Hashable {
    package let service: Int
    package let request: UhidRequest
  }
}
