using Esb.Configuration;
using Esb.Core.Certificates;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Tests.Topics;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Tls;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>TLS with a real broker: the right certificates open it, for our connections and for the bus, and each wrong one is told by
/// name.</summary>
[TestFixture, Category("Faults")]
public sealed class BrokerTlsTests
{
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private DirectoryInfo _folder = null!;
    private TestAuthority _authority = null!;
    private TestAuthority _stranger = null!;
    private PrivateServers _servers = null!;
    private LogLines _log = null!;

    [OneTimeSetUp]
    public async Task StartServers()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        var now = TimeProvider.System.GetUtcNow();
        (_authority, _stranger) = (
            new TestAuthority(_folder.FullName, "authority", now),
            new TestAuthority(_folder.FullName, "stranger", now)
        );
        _servers = await PrivateServers.StartAsync();
    }

    [OneTimeTearDown]
    public async Task StopServers()
    {
        await _servers.DisposeAsync();
        _authority.Dispose();
        _stranger.Dispose();
        _folder.Delete(recursive: true);
    }

    [SetUp]
    public void CreateLog() => _log = new LogLines();

    [TestCase(false)]
    [TestCase(true)]
    [CancelAfter(60_000)]
    public async Task Messages_go_out_and_come_in_over_tls(bool withClientCertificate, CancellationToken cancellationToken)
    {
        var port = await ListenAsync(_authority.Issue("localhost"), wantsClients: withClientCertificate);
        var client = _authority.Issue("client", isClient: true);
        var tls = new ClientTlsConfig { Ca = _authority.File };
        if (withClientCertificate)
            tls = tls with { Certificate = client.Certificate, Key = client.LockedKey, Passphrase = IssuedCertificate.Passphrase };
        await using var transport = CreateTransport($"amqps://localhost:{port}", tls);
        var inbox = new Inbox();

        await transport.StartAsync(cancellationToken);
        await using var subscription = await transport.SubscribeAsync(
            new Subscription("ledger", [SubjectPattern.Parse("orders.#")!], 1, 32, SingleActive: false, new QueueConfig(), []),
            inbox.HandleAsync,
            cancellationToken
        );
        var result = await transport.PublishAsync(
            EsbMessage.Create(MessageBody.FromText("over tls"), TimeProvider.System) with
            {
                Subject = "orders.accepted",
            },
            cancellationToken
        );

        Assert.That(result.Outcome, Is.EqualTo(PublishOutcome.Confirmed), string.Join('\n', _log.All));
        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo("over tls"));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-15")]
    public async Task An_authority_that_is_not_trusted_is_refused(CancellationToken cancellationToken)
    {
        var port = await ListenAsync(_authority.Issue("localhost"));

        await ExpectAsync(
            $"amqps://localhost:{port}",
            new ClientTlsConfig(),
            "no authority that is trusted here vouches for the broker's certificate",
            cancellationToken
        );
        await ExpectAsync(
            $"amqps://localhost:{port}",
            new ClientTlsConfig { Ca = _stranger.File },
            "no authority that is trusted here vouches for the broker's certificate",
            cancellationToken
        );
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-15")]
    public async Task A_certificate_for_another_name_is_refused_unless_that_name_is_expected(CancellationToken cancellationToken)
    {
        var port = await ListenAsync(_authority.Issue("broker.example"));

        await ExpectAsync(
            $"amqps://localhost:{port}",
            new ClientTlsConfig { Ca = _authority.File },
            "the broker's certificate is made out to broker.example, not to localhost",
            cancellationToken
        );
        await using var transport = CreateTransport(
            $"amqps://localhost:{port}",
            new ClientTlsConfig { Ca = _authority.File, ServerName = "broker.example" }
        );
        await transport.StartAsync(cancellationToken);
        Assert.That(transport.Status.IsReady, Is.True, transport.Status.Reason);
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-15")]
    public async Task A_certificate_out_of_time_is_refused(CancellationToken cancellationToken)
    {
        var port = await ListenAsync(_authority.Issue("localhost", fromDay: -3, toDay: -1));

        await ExpectAsync(
            $"amqps://localhost:{port}",
            new ClientTlsConfig { Ca = _authority.File },
            "the broker's certificate is valid from",
            cancellationToken
        );
    }

    [TestCase("tlsv1.2")]
    [TestCase("tlsv1.3")]
    [CancelAfter(60_000)]
    [Property("Case", "AMQ-15")]
    public async Task A_broker_that_wants_a_certificate_of_the_client_is_understood(string version, CancellationToken cancellationToken)
    {
        var port = await ListenAsync(_authority.Issue("localhost"), wantsClients: true, version);
        var stranger = _stranger.Issue("client", isClient: true);

        await ExpectAsync(
            $"amqps://localhost:{port}",
            new ClientTlsConfig { Ca = _authority.File },
            "the broker refuses the certificate of this client, or wants one",
            cancellationToken
        );
        await ExpectAsync(
            $"amqps://localhost:{port}",
            new ClientTlsConfig
            {
                Ca = _authority.File,
                Certificate = stranger.Certificate,
                Key = stranger.Key,
            },
            "the broker refuses the certificate of this client, or wants one",
            cancellationToken
        );
    }

    private RabbitMqTransport CreateTransport(string url, ClientTlsConfig tls) =>
        new(
            new RabbitMqTransportConfig
            {
                Url = url,
                Prefix = $"esb-test-{Guid.NewGuid():N}"[..17],
                Tls = tls,
            },
            "tests",
            Topics,
            [],
            new LimitsConfig(),
            new NoClaimCheckStore(),
            Esb.Topics.Farm.FarmKeys.None,
            TimeProvider.System,
            _log.Factory
        );

    private async Task ExpectAsync(string url, ClientTlsConfig tls, string reason, CancellationToken cancellationToken)
    {
        await using var transport = CreateTransport(url, tls);
        await transport.StartAsync(cancellationToken);
        while (transport.Status.Reason is "broker away")
            await Task.Delay(20, cancellationToken); // on a busy machine the start does not wait for the first attempt to fail
        Assert.That(transport.Status.Reason, Does.StartWith($"ESB-AMQP-TLS: {reason}"));
    }

    // A listener of its own for each certificate, beside the broker's first.
    private async Task<int> ListenAsync(IssuedCertificate certificate, bool wantsClients = false, string? version = null) =>
        (await TlsListener.StartAsync(_servers, _authority, certificate, wantsClients, version)).Port;
}
