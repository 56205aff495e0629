"""The users of Bumble's end, who answer the questions of pairings."""


from bumble.pairing import PairingConfig, PairingDelegate


class User(PairingDelegate):
    """Agrees to everything, and enters or shows a passkey."""

    def __init__(self, capability, passkey=0):
        super().__init__(io_capability=capability)
        self.passkey, self.compared, self.displayed = passkey, [], []

    async def compare_numbers(self, number, digits):
        self.compared.append(number)
        return True

    async def get_number(self):
        return self.passkey

    async def generate_passkey(self):
        return self.passkey

    async def display_number(self, number, digits):
        self.displayed.append(number)


def pairing(user, is_secure=True, requires_authentication=False):
    def prepare(device):
        device.pairing_config_factory = lambda _: PairingConfig(
            sc=is_secure, mitm=requires_authentication, bonding=True, delegate=user,
            # The address on the air, under which the other end looks for the keys.
            identity_address_type=PairingConfig.AddressType.RANDOM)

    return prepare
