using Esb.Tests.Topics;

namespace Esb.IntegrationTests;

/// <summary>A port of a private broker that speaks TLS, beside its first, until the broker is started again.</summary>
internal sealed class TlsListener
{
    private readonly PrivateServers _servers;
    private readonly IssuedCertificate _shown;

    private TlsListener(PrivateServers servers, int port, IssuedCertificate shown) => (_servers, Port, _shown) = (servers, port, shown);

    public int Port { get; }

    /// <summary>Opens the port.</summary>
    /// <param name="servers">Whose broker.</param>
    /// <param name="authority">Vouches for clients.</param>
    /// <param name="certificate">What the broker shows; its files are the listener's from now on.</param>
    /// <param name="wantsClients">Whether clients must show a certificate.</param>
    /// <param name="version">The only version of TLS; any by default.</param>
    public static async Task<TlsListener> StartAsync(
        PrivateServers servers,
        TestAuthority authority,
        IssuedCertificate certificate,
        bool wantsClients = false,
        string? version = null
    )
    {
        var port = await PrivateServers.FindPortAsync();
        var options = new List<string>
        {
            $"{{cacertfile, \"{authority.File}\"}}",
            $"{{certfile, \"{certificate.Certificate}\"}}",
            $"{{keyfile, \"{certificate.Key}\"}}",
            wantsClients ? "{verify, verify_peer}, {fail_if_no_peer_cert, true}" : "{verify, verify_none}",
        };
        if (version is not null)
            options.Add($"{{versions, ['{version}']}}");
        await servers.ControlRabbitMqAsync(
            "eval",
            $"rabbit_networking:ensure_ssl(), ok = rabbit_networking:start_ssl_listener({{\"127.0.0.1\", {port}}}, "
                + $"[{string.Join(", ", options)}], 2)."
        );
        return new TlsListener(servers, port, certificate);
    }

    /// <summary>Replaces the certificate, and closes every connection to the broker.</summary>
    public async Task ShowAsync(IssuedCertificate certificate)
    {
        File.Copy(certificate.Certificate, _shown.Certificate, overwrite: true);
        File.Copy(certificate.Key, _shown.Key, overwrite: true);
        await _servers.ControlRabbitMqAsync("eval", "ssl:clear_pem_cache().");
        await _servers.ControlRabbitMqAsync("close_all_connections", "certificate");
    }
}
