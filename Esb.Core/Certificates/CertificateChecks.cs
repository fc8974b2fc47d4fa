using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Certificates;

/// <summary>Loads the files that TLS settings name, so that errors are found at start.</summary>
public static class CertificateChecks
{
    /// <summary>Adds an <c>ESB-CFG-CERT</c> or <c>ESB-CFG-REQUIRED</c> for each file that cannot be used.</summary>
    public static void CheckFiles(this ConfigErrors errors, ClientTlsConfig tls, DateTimeOffset now)
    {
        errors.CheckAuthorities(tls, "ca", tls.Ca, now);
        errors.CheckCertificate(tls, tls.Certificate, tls.Key, tls.Passphrase, now);
    }

    /// <summary>Adds an <c>ESB-CFG-CERT</c> if the file of authorities cannot be used; does nothing if none is named.</summary>
    public static void CheckAuthorities(
        this ConfigErrors errors,
        SettingsRecord settings,
        string property,
        string? path,
        DateTimeOffset now
    )
    {
        if (path is not null)
            Try(errors, settings, property, () => CertificateFiles.LoadAuthorities(path, now));
    }

    /// <summary>Adds an <c>ESB-CFG-CERT</c> if the properties <c>certificate</c>, <c>key</c> and <c>passphrase</c> do not form a
    /// certificate with its key.</summary>
    public static void CheckCertificate(
        this ConfigErrors errors,
        SettingsRecord settings,
        string? certificate,
        string? key,
        string? passphrase,
        DateTimeOffset now
    )
    {
        if (!settings.IsSound("certificate", "key", "passphrase"))
            return;
        if (certificate is not null)
            Try(errors, settings, "certificate", () => CertificateFiles.LoadWithKey(certificate, key, passphrase, now).Dispose());
        else if (key is not null)
            errors.Add("ESB-CFG-REQUIRED", $"{settings.Path}.certificate", "is required beside \"key\"", settings.Origin);
    }

    private static void Try(ConfigErrors errors, SettingsRecord settings, string property, Action load)
    {
        try
        {
            load();
        }
        catch (CertificateException ex)
        {
            errors.Add("ESB-CFG-CERT", settings, property, ex.Message);
        }
    }
}
