import HCI

extension ControllerProfile {
  /// The controller's machines, each with the command family that works for it.
  package func radio(_ targets: RadioTargets) -> any RadioMachine {
    radio(
      scanning: Self.family(isExtended: scansExtended), advertising: Self.family(isExtended: advertisesExtended),
      initiating: Self.family(isExtended: initiatesExtended), targets)
  }

  /// The controller's machines with these families.
  func radio<Scanning: RadioFamily, Advertising: RadioFamily, Initiating: RadioFamily>(
    scanning: Scanning.Type, advertising: Advertising.Type, initiating: Initiating.Type, _ targets: RadioTargets
  ) -> any RadioMachine {
    FamilyRadioMachine<Scanning, Advertising, Initiating>(profile: self, targets: targets)
  }

  private static func family(isExtended: Bool) -> any RadioFamily.Type {
    isExtended ? ExtendedFamily.self : LegacyFamily.self
  }
}
