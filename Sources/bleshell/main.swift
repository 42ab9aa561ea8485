print("bleshell")
