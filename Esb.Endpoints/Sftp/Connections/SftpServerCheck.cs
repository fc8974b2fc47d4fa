using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Renci.SshNet;
using Renci.SshNet.Common;

namespace Esb.Endpoints.Sftp.Connections;

/// <summary>Checks the settings of an SFTP server. Opens no connection.</summary>
internal static class SftpServerCheck
{
    private const int FingerprintBytes = 32; // SHA-256

    public static void Check(EndpointConfig settings, ISftpServer server, ConfigErrors errors)
    {
        if (settings.IsSound("url") && SftpAddress.Parse(server.Url) is null)
            errors.Add(
                "ESB-CFG-URL",
                settings,
                "url",
                "expected sftp://user@host:22/absolute/folder, or /~/folder for one of the user's home, without a password"
            );
        if (settings.IsSound("password", "privateKey") && server.Password is null == server.PrivateKey is null)
            errors.Add(
                "ESB-CFG-ONEOF",
                settings,
                server.Password is null ? "password" : "privateKey",
                "expected exactly one of password and privateKey"
            );
        if (server is { Passphrase: not null, PrivateKey: null })
            errors.Add("ESB-CFG-VALUE", settings, "passphrase", "expected privateKey beside it");
        if (settings.IsSound("hostKey"))
            CheckHostKeys(settings, server, errors);
        if (server.PrivateKey is not null && settings.IsSound("privateKey", "passphrase"))
            CheckKey(settings, server, errors);
    }

    /// <summary>Reads the private key of a server.</summary>
    /// <exception cref="SshException">It cannot be read.</exception>
    public static PrivateKeyFile ReadKey(ISftpServer server) =>
        new(new MemoryStream(Encoding.UTF8.GetBytes(server.PrivateKey!)), server.Passphrase);

    private static void CheckHostKeys(EndpointConfig settings, ISftpServer server, ConfigErrors errors)
    {
        if (server.HostKey.Count == 0)
            errors.Add("ESB-CFG-VALUE", settings, "hostKey", "expected at least one, such as SHA256:KEY, as ssh-keygen -lf prints it");
        foreach (var key in server.HostKey.Where(key => !IsFingerprint(key)))
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "hostKey",
                $"'{Clipped.To(60, key)}' is not a fingerprint; expected SHA256: and 43 characters, as ssh-keygen -lf prints it"
            );
    }

    private static bool IsFingerprint(string key)
    {
        if (!key.StartsWith(SftpConnector.FingerprintPrefix, StringComparison.Ordinal))
            return false;
        var bytes = new byte[FingerprintBytes + 3];
        return Convert.TryFromBase64String($"{key[SftpConnector.FingerprintPrefix.Length..].TrimEnd('=')}=", bytes, out var count)
            && count == FingerprintBytes;
    }

    private static void CheckKey(EndpointConfig settings, ISftpServer server, ConfigErrors errors)
    {
        try
        {
            ReadKey(server).Dispose();
        }
        catch (SshPassPhraseNullOrEmptyException)
        {
            errors.Add("ESB-CFG-VALUE", settings, "passphrase", "the private key is encrypted; expected its passphrase");
        }
        catch (Exception ex) when (ex is not OutOfMemoryException) // parsers of key formats throw many types
        {
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "privateKey",
                "expected the text of a private key in OpenSSH or PEM form, and its passphrase if it has one"
            );
        }
    }
}
