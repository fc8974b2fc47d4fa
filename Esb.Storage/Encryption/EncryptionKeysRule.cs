using System.Text.RegularExpressions;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Storage;

namespace Esb.Storage.Encryption;

/// <summary>Checks <c>store.encryptionKeys</c>.</summary>
internal sealed partial class EncryptionKeysRule(StoreConfig store) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        if (store is not IEncryptingStoreConfig { EncryptionKeys: { } keys })
            return;
        foreach (var entry in keys)
        {
            if (!Ids().IsMatch(entry.Id))
                errors.Add("ESB-CFG-NAME", entry, "id", "expected 1 to 16 lower-case letters, digits and hyphens");
            if (entry.Bytes() is null)
                errors.Add("ESB-CFG-RANGE", entry, "key", $"expected {EncryptionKeyConfig.KeyBytes} bytes in Base64");
        }

        foreach (var same in keys.GroupBy(entry => entry.Id, StringComparer.Ordinal).Where(same => same.Count() > 1))
            errors.Add("ESB-CFG-DUPNAME", same.Last(), "id", $"expected each id once; '{same.Key}' stands there {same.Count()} times");
    }

    [GeneratedRegex("^[a-z0-9-]{1,16}$")]
    private static partial Regex Ids();
}
