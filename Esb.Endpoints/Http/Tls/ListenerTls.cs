using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Esb.Configuration;
using Esb.Core.Certificates;
using Esb.Core.Diagnostics;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Listening;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Tls;

/// <summary>TLS of one listener: presents its certificate, the renewed one after a change of its file, and verifies client certificates.
/// Thread-safe.</summary>
internal sealed partial class ListenerTls
{
    private readonly string _listener;
    private readonly ListenerTlsConfig _config;
    private readonly HttpVersions _versions;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly RenewedFile<SslServerAuthenticationOptions> _options;
    private readonly LogPace _refusals;

    /// <exception cref="CertificateException">A file cannot be used.</exception>
    public ListenerTls(string listener, ListenerTlsConfig config, HttpVersions versions, TimeProvider time, ILogger<ListenerTls> logger)
    {
        (_listener, _config, _versions, _time, _logger) = (listener, config, versions, time, logger);
        _refusals = new LogPace(time);
        string?[] files = [config.Certificate, config.Key, config.ClientCa];
        _options = new RenewedFile<SslServerAuthenticationOptions>(
            $"the certificate of listener {listener}",
            [.. files.OfType<string>()],
            Load,
            AccessFiles.Interval,
            time,
            logger
        );
    }

    /// <summary>The options that the web server requests for each new connection.</summary>
    public TlsHandshakeCallbackOptions Handshakes =>
        new() { HandshakeTimeout = TimeSpan.FromSeconds(10), OnConnection = _ => new(_options.Current) };

    private SslServerAuthenticationOptions Load()
    {
        var now = _time.GetUtcNow();
        var certificate = CertificateFiles.LoadWithKey(_config.Certificate, _config.Key, _config.Passphrase, now);
        var intermediates = CertificateFiles.LoadIntermediates(_config.Certificate, _config.Passphrase, certificate);
        var options = new SslServerAuthenticationOptions
        {
            ServerCertificateContext = SslStreamCertificateContext.Create(certificate, intermediates, offline: true),
            EnabledSslProtocols = _config.MinimumVersion == TlsVersion.Tls13 ? SslProtocols.Tls13 : SslProtocols.Tls12 | SslProtocols.Tls13,
            ApplicationProtocols = ProtocolsOf(_versions),
            AllowRenegotiation = false,
        };
        if (_config.ClientCertificates == ClientCertificateMode.None)
            return options;

        var verifier = new PeerVerifier("the caller", CertificateFiles.LoadAuthorities(_config.ClientCa!, now), PeerVerifier.Client);
        options.ClientCertificateRequired = true; // requests one; the code below decides if it may be missing
        options.RemoteCertificateValidationCallback = (_, shown, chain, errors) => Accepts(verifier, shown, chain, errors);
        return options;
    }

    // The first protocol that the caller also supports is selected (RFC 7301, section 3.2).
    private static List<SslApplicationProtocol> ProtocolsOf(HttpVersions versions) =>
        versions switch
        {
            HttpVersions.Http1 => [SslApplicationProtocol.Http11],
            HttpVersions.Http2 => [SslApplicationProtocol.Http2],
            _ => [SslApplicationProtocol.Http2, SslApplicationProtocol.Http11],
        };

    private bool Accepts(PeerVerifier verifier, X509Certificate? shown, X509Chain? chain, SslPolicyErrors errors)
    {
        if (shown is null && _config.ClientCertificates == ClientCertificateMode.Optional)
            return true;
        if (verifier.FaultOf(shown, chain, errors, name: null) is not { } fault)
            return true;
        if (_refusals.Next() is { } silent)
            LogRefused(_listener, fault, silent);
        return false;
    }

    [LoggerMessage(
        EventId = 2182,
        Level = LogLevel.Warning,
        Message = "Listener {Listener} refused a connection: {Fault}; {Silent} more since the last warning"
    )]
    private partial void LogRefused(string listener, string fault, long silent);
}
