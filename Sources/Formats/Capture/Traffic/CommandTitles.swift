import HCI

extension Opcode {
  /// The command's name (Core 5.4, Vol 4, Part E, 7); its number without one, as for vendors' commands.
  var title: String {
    Self.titles[rawValue] ?? "\(group == Self.vendors ? "Vendor Command" : "Command") \(HCIWords.hex(rawValue))"
  }

  private static let vendors: UInt16 = 0x3F
  private static let titles = linkTitles.merging(controllerTitles) { $1 }.merging(lowEnergyTitles) { $1 }

  /// Link Control and Link Policy commands (7.1, 7.2).
  private static let linkTitles: [UInt16: String] = [
    0x0401: "Inquiry", 0x0402: "Inquiry Cancel", 0x0405: "Create Connection", 0x0406: "Disconnect",
    0x0408: "Create Connection Cancel", 0x0409: "Accept Connection Request", 0x040A: "Reject Connection Request",
    0x040B: "Link Key Request Reply", 0x040C: "Link Key Request Negative Reply", 0x040D: "PIN Code Request Reply",
    0x040E: "PIN Code Request Negative Reply", 0x040F: "Change Connection Packet Type",
    0x0411: "Authentication Requested", 0x0413: "Set Connection Encryption", 0x0419: "Remote Name Request",
    0x041A: "Remote Name Request Cancel", 0x041B: "Read Remote Supported Features",
    0x041C: "Read Remote Extended Features", 0x041D: "Read Remote Version Information", 0x041F: "Read Clock Offset",
    0x042B: "IO Capability Request Reply", 0x042C: "User Confirmation Request Reply",
    0x042D: "User Confirmation Request Negative Reply", 0x042E: "User Passkey Request Reply",
    0x042F: "User Passkey Request Negative Reply", 0x0430: "Remote OOB Data Request Reply",
    0x0433: "Remote OOB Data Request Negative Reply", 0x0434: "IO Capability Request Negative Reply",
    0x0445: "Remote OOB Extended Data Request Reply", 0x0803: "Sniff Mode", 0x0804: "Exit Sniff Mode",
    0x080B: "Switch Role", 0x080D: "Write Link Policy Settings", 0x080F: "Write Default Link Policy Settings",
  ]

  /// Commands for the controller, its properties and the state of links (7.3 to 7.5).
  private static let controllerTitles: [UInt16: String] = [
    0x0C01: "Set Event Mask", 0x0C03: "Reset", 0x0C05: "Set Event Filter", 0x0C0D: "Read Stored Link Key",
    0x0C11: "Write Stored Link Key", 0x0C12: "Delete Stored Link Key", 0x0C13: "Write Local Name",
    0x0C14: "Read Local Name", 0x0C16: "Write Connection Accept Timeout", 0x0C18: "Write Page Timeout",
    0x0C1A: "Write Scan Enable", 0x0C1C: "Write Page Scan Activity", 0x0C1E: "Write Inquiry Scan Activity",
    0x0C23: "Read Class Of Device", 0x0C24: "Write Class Of Device", 0x0C25: "Read Voice Setting",
    0x0C2D: "Read Transmit Power Level", 0x0C31: "Set Controller To Host Flow Control", 0x0C33: "Host Buffer Size",
    0x0C35: "Host Number Of Completed Packets",
    0x0C38: "Read Number Of Supported IAC", 0x0C39: "Read Current IAC LAP", 0x0C3A: "Write Current IAC LAP",
    0x0C45: "Write Inquiry Mode", 0x0C46: "Read Page Scan Type", 0x0C47: "Write Page Scan Type",
    0x0C52: "Write Extended Inquiry Response", 0x0C56: "Write Simple Pairing Mode", 0x0C57: "Read Local OOB Data",
    0x0C58: "Read Inquiry Response Transmit Power Level", 0x0C5A: "Read Default Erroneous Data Reporting",
    0x0C5B: "Write Default Erroneous Data Reporting", 0x0C63: "Set Event Mask Page 2",
    0x0C6C: "Read LE Host Support", 0x0C6D: "Write LE Host Support",
    0x0C7A: "Write Secure Connections Host Support", 0x0C7B: "Read Authenticated Payload Timeout",
    0x0C7C: "Write Authenticated Payload Timeout", 0x0C7D: "Read Local OOB Extended Data",
    0x1001: "Read Local Version Information", 0x1002: "Read Local Supported Commands",
    0x1003: "Read Local Supported Features", 0x1004: "Read Local Extended Features", 0x1005: "Read Buffer Size",
    0x1009: "Read BD_ADDR", 0x100A: "Read Data Block Size", 0x100B: "Read Local Supported Codecs",
    0x100C: "Read Local Simple Pairing Options", 0x100D: "Read Local Supported Codecs [v2]", 0x1405: "Read RSSI",
    0x1407: "Read Clock", 0x1408: "Read Encryption Key Size",
  ]

  /// LE Controller commands (7.8).
  private static let lowEnergyTitles: [UInt16: String] = [
    0x2001: "LE Set Event Mask", 0x2002: "LE Read Buffer Size", 0x2003: "LE Read Local Supported Features",
    0x2005: "LE Set Random Address", 0x2006: "LE Set Advertising Parameters",
    0x2007: "LE Read Advertising Physical Channel Tx Power", 0x2008: "LE Set Advertising Data",
    0x2009: "LE Set Scan Response Data", 0x200A: "LE Set Advertising Enable", 0x200B: "LE Set Scan Parameters",
    0x200C: "LE Set Scan Enable", 0x200D: "LE Create Connection", 0x200E: "LE Create Connection Cancel",
    0x200F: "LE Read Filter Accept List Size", 0x2010: "LE Clear Filter Accept List",
    0x2011: "LE Add Device To Filter Accept List", 0x2012: "LE Remove Device From Filter Accept List",
    0x2013: "LE Connection Update", 0x2014: "LE Set Host Channel Classification", 0x2015: "LE Read Channel Map",
    0x2016: "LE Read Remote Features", 0x2017: "LE Encrypt", 0x2018: "LE Rand", 0x2019: "LE Enable Encryption",
    0x201A: "LE Long Term Key Request Reply", 0x201B: "LE Long Term Key Request Negative Reply",
    0x201C: "LE Read Supported States", 0x201D: "LE Receiver Test", 0x201E: "LE Transmitter Test",
    0x201F: "LE Test End", 0x2020: "LE Remote Connection Parameter Request Reply",
    0x2021: "LE Remote Connection Parameter Request Negative Reply", 0x2022: "LE Set Data Length",
    0x2023: "LE Read Suggested Default Data Length", 0x2024: "LE Write Suggested Default Data Length",
    0x2025: "LE Read Local P-256 Public Key", 0x2026: "LE Generate DHKey",
    0x2027: "LE Add Device To Resolving List", 0x2028: "LE Remove Device From Resolving List",
    0x2029: "LE Clear Resolving List", 0x202A: "LE Read Resolving List Size",
    0x202B: "LE Read Peer Resolvable Address", 0x202C: "LE Read Local Resolvable Address",
    0x202D: "LE Set Address Resolution Enable", 0x202E: "LE Set Resolvable Private Address Timeout",
    0x202F: "LE Read Maximum Data Length", 0x2030: "LE Read PHY", 0x2031: "LE Set Default PHY", 0x2032: "LE Set PHY",
    0x2033: "LE Receiver Test [v2]", 0x2034: "LE Transmitter Test [v2]",
    0x2035: "LE Set Advertising Set Random Address", 0x2036: "LE Set Extended Advertising Parameters",
    0x2037: "LE Set Extended Advertising Data", 0x2038: "LE Set Extended Scan Response Data",
    0x2039: "LE Set Extended Advertising Enable", 0x203A: "LE Read Maximum Advertising Data Length",
    0x203B: "LE Read Number Of Supported Advertising Sets", 0x203C: "LE Remove Advertising Set",
    0x203D: "LE Clear Advertising Sets", 0x203E: "LE Set Periodic Advertising Parameters",
    0x203F: "LE Set Periodic Advertising Data", 0x2040: "LE Set Periodic Advertising Enable",
    0x2041: "LE Set Extended Scan Parameters", 0x2042: "LE Set Extended Scan Enable",
    0x2043: "LE Extended Create Connection", 0x2044: "LE Periodic Advertising Create Sync",
    0x2045: "LE Periodic Advertising Create Sync Cancel", 0x2046: "LE Periodic Advertising Terminate Sync",
    0x2047: "LE Add Device To Periodic Advertiser List", 0x2048: "LE Remove Device From Periodic Advertiser List",
    0x2049: "LE Clear Periodic Advertiser List", 0x204A: "LE Read Periodic Advertiser List Size",
    0x204B: "LE Read Transmit Power", 0x204C: "LE Read RF Path Compensation", 0x204D: "LE Write RF Path Compensation",
    0x204E: "LE Set Privacy Mode", 0x2059: "LE Set Periodic Advertising Receive Enable",
    0x205A: "LE Periodic Advertising Sync Transfer", 0x205B: "LE Periodic Advertising Set Info Transfer",
    0x205C: "LE Set Periodic Advertising Sync Transfer Parameters",
    0x205D: "LE Set Default Periodic Advertising Sync Transfer Parameters", 0x205E: "LE Generate DHKey [v2]",
    0x205F: "LE Modify Sleep Clock Accuracy", 0x2060: "LE Read Buffer Size [v2]", 0x2061: "LE Read ISO TX Sync",
    0x2062: "LE Set CIG Parameters", 0x2064: "LE Create CIS", 0x2065: "LE Remove CIG", 0x2066: "LE Accept CIS Request",
    0x2067: "LE Reject CIS Request", 0x2068: "LE Create BIG", 0x206A: "LE Terminate BIG", 0x206B: "LE BIG Create Sync",
    0x206C: "LE BIG Terminate Sync", 0x206D: "LE Request Peer SCA", 0x206E: "LE Setup ISO Data Path",
    0x206F: "LE Remove ISO Data Path", 0x2074: "LE Set Host Feature", 0x2075: "LE Read ISO Link Quality",
    0x2076: "LE Enhanced Read Transmit Power Level", 0x2077: "LE Read Remote Transmit Power Level",
    0x2078: "LE Set Path Loss Reporting Parameters", 0x2079: "LE Set Path Loss Reporting Enable",
    0x207A: "LE Set Transmit Power Reporting Enable", 0x207C: "LE Set Data Related Address Changes",
    0x207D: "LE Set Default Subrate", 0x207E: "LE Subrate Request",
    0x207F: "LE Set Extended Advertising Parameters [v2]", 0x2082: "LE Set Periodic Advertising Subevent Data",
    0x2083: "LE Set Periodic Advertising Response Data", 0x2084: "LE Set Periodic Sync Subevent",
    0x2086: "LE Set Periodic Advertising Parameters [v2]", 0x2087: "LE Read All Local Supported Features",
    0x2088: "LE Read All Remote Features", 0x2089: "LE CS Read Local Supported Capabilities",
    0x208A: "LE CS Read Remote Supported Capabilities", 0x208B: "LE CS Write Cached Remote Supported Capabilities",
    0x208C: "LE CS Security Enable", 0x208D: "LE CS Set Default Settings", 0x208E: "LE CS Read Remote FAE Table",
    0x208F: "LE CS Write Cached Remote FAE Table", 0x2090: "LE CS Create Config", 0x2091: "LE CS Remove Config",
    0x2092: "LE CS Set Channel Classification", 0x2093: "LE CS Set Procedure Parameters",
    0x2094: "LE CS Procedure Enable", 0x2095: "LE CS Test", 0x2096: "LE CS Test End",
    0x2097: "LE Set Host Feature [v2]",
    0x2098: "LE Add Device To Monitored Advertisers List",
    0x2099: "LE Remove Device From Monitored Advertisers List", 0x209A: "LE Clear Monitored Advertisers List",
    0x209B: "LE Read Monitored Advertisers List Size", 0x209C: "LE Enable Monitoring Advertisers",
    0x209D: "LE Frame Space Update", 0x209F: "LE Enable UTP OTA Mode", 0x20A0: "LE UTP Send",
    0x20A1: "LE Connection Rate Request",
    0x20A2: "LE Set Default Rate Parameters", 0x20A3: "LE Read Minimum Supported Connection Interval",
  ]
}
