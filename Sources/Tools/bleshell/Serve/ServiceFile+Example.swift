extension ServiceFile {
  /// A file with all members of such files, as a start for one's own.
  static let example = """
    // Services for "bleshell serve". Everything but "uuid" and "properties" can be left out.
    {
      "advertise": { "name": "Example", "services": ["180F"] },
      "services": [
        { "uuid": "180F",  // 16 bits for assigned services; make 128 bits for your own with uuidgen
          "characteristics": [
            { "uuid": "2A19",
              "properties": ["read", "notify"],  // also: write, writeWithoutResponse, indicate
              "value": "5f",  // in hex; or "text": "…"
              "changes": { "every": 10, "values": ["5e", "5d", "5c"] } },  // by itself, in seconds
            { "uuid": "6F3C0002-5B1E-4A0D-9B6A-0D1E6B7F2A10",
              "properties": ["read", "write"],
              "text": "hello",
              "descriptors": [{ "uuid": "2901", "text": "A text that devices can change" }] },
          ] },
      ],
    }

    """
}
