import Bluetooth
import BondedDevices

/// The kernel's devices: a file of /dev/uhid for each HID service of a device.
package final class KernelDevices: DeviceSystem {
  package typealias Device = HIDDevice

  package static let name = "HID"
  package static let kind = "keyboards, mice and the like"

  private struct Place: Hashable {
    let device: DeviceAddress
    let service: Int
  }

  private let uhid: any UhidFiles
  private var files: [Place: any UhidFile] = [:]

  package init(_ files: any UhidFiles) { uhid = files }

  package func perform(
    _ output: HIDDevice.Output, of device: DeviceAddress, _ received: @escaping (HIDDevice.Event) -> Void
  ) -> DeviceOutcome<HIDDevice.Event> {
    let service = output.service
    let place = Place(device: device, service: service)
    do throws(UhidFailure) {
      if case .create = output.request {
        files.removeValue(forKey: place)?.close()
        files[place] = try uhid.open { received(.kernel(service: service, $0)) }
      }
      try files[place]?.send(output.request)
    } catch {
      files.removeValue(forKey: place)?.close()
      return .refused(error.description, .kernelFailed(service: service))
    }
    switch output.request {
    case .create: return .opened
    case .destroy: files.removeValue(forKey: place)?.close()
    case .input, .report, .reportSet: break
    }
    return .done
  }

  package func close() {
    for file in files.values { file.close() }
    files = [:]
  }
}
