using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Endpoints.Http.Listening;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Tls;

/// <summary>TLS for what listens beside the listeners, as the management API does.</summary>
public static class TlsListening
{
    /// <summary>Adds the errors of the files that the settings name.</summary>
    public static void Check(ListenerTlsConfig tls, DateTimeOffset now, ConfigErrors errors)
    {
        errors.CheckCertificate(tls, tls.Certificate, tls.Key, tls.Passphrase, now);
        errors.CheckAuthorities(tls, "clientCa", tls.ClientCa, now);
        if (tls is { ClientCertificates: not ClientCertificateMode.None, ClientCa: null })
            errors.Add("ESB-CFG-REQUIRED", tls, "clientCa", "is required where callers show certificates: who may vouch for them");
    }

    /// <summary>Returns the handshakes of a server: with the certificate of the file, and with the renewed one after a change.</summary>
    /// <param name="name">The name of what listens, for the log.</param>
    /// <param name="tls">The settings, checked.</param>
    /// <param name="time">The clock.</param>
    /// <param name="loggers">Receive what is refused.</param>
    /// <exception cref="ConfigurationRefusedException">A file cannot be used any more.</exception>
    public static TlsHandshakeCallbackOptions HandshakesOf(string name, ListenerTlsConfig tls, TimeProvider time, ILoggerFactory loggers)
    {
        try
        {
            return new ListenerTls(name, tls, HttpVersions.Any, time, loggers.CreateLogger<ListenerTls>()).Handshakes;
        }
        catch (CertificateException ex) // changed since it was checked
        {
            throw new ConfigurationRefusedException([
                new ConfigError("ESB-CFG-CERT", $"{name}.tls.certificate", null, ex.Message, tls.Origin),
            ]);
        }
    }
}
