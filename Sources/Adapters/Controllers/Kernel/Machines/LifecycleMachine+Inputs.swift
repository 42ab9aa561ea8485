import Adapter
import Bluetooth
import HCI

extension LifecycleMachine {
  /// The machine's states.
  enum State: Hashable {
    case stopped
    case opening
    case searching(remaining: [ControllerIndex])
    case examining
    case configuring
    /// The controller could not be switched on; the reason is not known yet.
    case refused(AdapterProblem)
    case openingRadio
    case on
    case suspended
    case off
    case absent
    case failed(AdapterProblem.Kind)
    /// The kernel's management interface could not be opened.
    case unmanaged
    case stopping
  }

  /// The controller found.
  struct Controller {
    let index: ControllerIndex
    let information: ControllerInformation
  }

  /// The inputs.
  enum Input: Hashable {
    case start
    case managementOpened
    case managementFailed(AdapterProblem)
    case packet(ManagementPacket)
    /// No other program uses the controller, which gets the bonds of all adapters then; or the problem that one does.
    case rival(AdapterProblem?, bonds: [Bond] = [])
    case radioOpened
    case radioFailed(AdapterProblem)
    case setPower(Bool)
    /// A radio of this machine was blocked or unblocked.
    case rfkillChanged
    /// The block of the controller, the answer to `findBlock`; nil for none.
    case blocked(AdapterProblem?)
    /// The kernel's events were not read in time, and some are lost.
    case eventsLost
    /// The reason why the absent controller cannot be used although the kernel has it; nil if that is over.
    case unconfigured(AdapterProblem?)
    case tick
    /// The radio is closed. `needsCycle`: the kernel's discovery has to be reset by a power cycle.
    case stop(needsCycle: Bool)
  }

  /// The actions.
  enum Action: Hashable {
    case openManagement
    case send(ManagementPacket)
    case findRival
    /// Find out whether rfkill blocks the controller.
    case findBlock
    case openRadio(ControllerIndex, address: DeviceAddress)
    /// Ends links, scan and advertising; links end with the error.
    case closeRadio(BluetoothError)
    /// Ends links, and makes the controller quiet before the radio is closed.
    case suspendRadio
    case state(AdapterState)
    /// These controllers are present, ours or others'.
    case controllers([ControllerIndex])
    case identity(ControllerIndex, ControllerInformation)
    case powerDone(BluetoothError?)
    case stopped
    case log(String)
  }
}
