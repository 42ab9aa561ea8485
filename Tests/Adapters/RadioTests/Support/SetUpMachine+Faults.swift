import Bluetooth

@testable import Radio

extension SetUpMachine {
  /// A machine that examines a controller with these faults.
  init(address: DeviceAddress, faults: ControllerFaults) {
    var profile = ControllerProfile(address: address)
    profile.faults = faults
    self.init(profile)
  }
}
