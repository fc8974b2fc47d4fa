using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Tests.Topics;

namespace Esb.Tests.Endpoints.Http.Tls;

/// <summary>An http-outbound endpoint over TLS: another bus is its server.</summary>
public sealed class TargetTlsTests : TlsFixture
{
    private HttpBus _client = null!;

    [SetUp]
    public void CreateClient() => _client = new HttpBus();

    [TearDown]
    public async Task StopClient() => await _client.DisposeAsync();

    [Test, CancelAfter(30_000)]
    public async Task Server_that_its_authority_vouches_for_is_sent_to(CancellationToken cancellationToken)
    {
        await ServeAsync(Authority.Issue("127.0.0.1"));

        Assert.That(await SendAsync($$""" "ca": "{{Authority.File}}" """, cancellationToken), Is.EqualTo("202"));
        Assert.That(Bus.Published.Single().Body.ReadText(), Is.EqualTo("<order/>"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Server_of_an_unknown_authority_is_not_trusted(CancellationToken cancellationToken)
    {
        await ServeAsync(Authority.Issue("127.0.0.1"));
        const string reason =
            "ESB-HTTP-TLS The endpoint 'out' cannot be reached over TLS: no authority that is trusted here vouches for the server's "
            + "certificate.";

        Assert.That(await SendAsync($$""" "ca": "{{Stranger.File}}" """, cancellationToken), Is.EqualTo(reason));
        Assert.That(await SendAsync(null, cancellationToken), Is.EqualTo(reason), "the authorities of the system");
        Assert.That(Bus.Published, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Certificate_of_another_host_is_not_trusted(CancellationToken cancellationToken)
    {
        await ServeAsync(Authority.Issue("elsewhere"));

        Assert.That(
            await SendAsync($$""" "ca": "{{Authority.File}}" """, cancellationToken),
            Does.StartWith("ESB-HTTP-TLS").And.EndsWith("the server's certificate is made out to elsewhere, not to 127.0.0.1.")
        );
        Assert.That(
            await SendAsync($$""" "ca": "{{Authority.File}}", "serverName": "elsewhere" """, cancellationToken),
            Is.EqualTo("202"),
            "as the configuration says"
        );
        Assert.That(
            await SendAsync($$""" "ca": "{{Authority.File}}", "serverName": "nowhere" """, cancellationToken),
            Does.EndWith("made out to elsewhere, not to nowhere.")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Name_from_the_configuration_is_demanded_instead_of_that_of_the_address(CancellationToken cancellationToken)
    {
        await ServeAsync(Authority.Issue("127.0.0.1"));

        Assert.That(
            await SendAsync($$""" "ca": "{{Authority.File}}", "serverName": "elsewhere" """, cancellationToken),
            Does.EndWith("not to elsewhere.")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Expired_certificate_is_not_trusted(CancellationToken cancellationToken)
    {
        await using var server = await ExpiredServer.StartAsync(Authority.Issue("127.0.0.1", fromDay: -10, toDay: -1));

        Assert.That(
            await SendAsync($$""" "ca": "{{Authority.File}}" """, cancellationToken, server.Url),
            Does.StartWith("ESB-HTTP-TLS").And.Contain("the server's certificate is valid from ")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Server_that_asks_for_a_certificate_is_shown_it(CancellationToken cancellationToken)
    {
        var client = Authority.Issue("client", isClient: true);
        await ServeAsync(Authority.Issue("127.0.0.1"), $$""", "clientCertificates": "required", "clientCa": "{{Authority.File}}" """);

        Assert.That(await SendAsync($$""" "ca": "{{Authority.File}}", {{Files(client)}} """, cancellationToken), Is.EqualTo("202"));
        Assert.That(await SendAsync($$""" "ca": "{{Authority.File}}" """, cancellationToken), Does.StartWith("ESB-HTTP-"), "none");
        Assert.That(
            await SendAsync($$""" "ca": "{{Authority.File}}", {{Files(Stranger.Issue("client", isClient: true))}} """, cancellationToken),
            Does.StartWith("ESB-HTTP-"),
            "of another authority"
        );
        Assert.That(Bus.Published, Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_verifies_its_target_too(CancellationToken cancellationToken)
    {
        await ServeAsync(Authority.Issue("127.0.0.1"));
        await _client.StartAsync(
            $$"""
            "good": { "type": "http-inbound", "path": "/good", "relay": "trusted" }, "bad": { "type": "http-inbound", "path": "/bad", "relay": "untrusted" },
            "trusted": { "type": "http-outbound", "url": "{{Address}}orders", "tls": { "ca": "{{Authority.File}}" } },
            "untrusted": { "type": "http-outbound", "url": "{{Address}}orders" }
            """
        );

        using var good = await _client.PostAsync("/good", "<order/>", cancellationToken: cancellationToken);
        using var bad = await _client.PostAsync("/bad", "<order/>", cancellationToken: cancellationToken);

        Assert.That(((int)good.StatusCode, (int)bad.StatusCode), Is.EqualTo((202, 502)));
        Assert.That(await bad.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-HTTP-TLS"));
    }

    private Task ServeAsync(IssuedCertificate shown, string more = "") =>
        Bus.StartAsync(""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """, Listener(shown, more));

    /// <summary>The status, or what failed.</summary>
    private async Task<string> SendAsync(string? tls, CancellationToken cancellationToken, string? url = null)
    {
        await using var bus = new HttpBus();
        var settings = tls is null ? "" : $$""", "tls": { {{tls}} } """;
        bus.Read($$""" "out": { "type": "http-outbound", "url": "{{url ?? $"{Address}orders"}}"{{settings}} } """);
        await using var adapter = OutboundEndpoints.Create(bus, "out");
        try
        {
            var answer = await adapter
                .CreateInstance()
                .SendAsync(EsbMessage.Create(MessageBody.FromBytes(Encoding.UTF8.GetBytes("<order/>")), Time), cancellationToken);
            return answer!.Headers[EsbHeaders.Status]!;
        }
        catch (EndpointException ex)
        {
            Assert.That((ex.IsTransient, ex.IsOutage || ex.Code != "ESB-HTTP-TLS"), Is.EqualTo((true, true)));
            return $"{ex.Code} {ex.Message}";
        }
    }
}
