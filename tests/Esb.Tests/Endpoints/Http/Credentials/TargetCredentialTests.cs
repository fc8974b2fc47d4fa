using Esb.Core.Messages;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Credentials;

/// <summary>What an http-outbound endpoint proves with who it is.</summary>
public sealed class TargetCredentialTests
{
    private readonly ManualTime _time = new();
    private HttpBus _bus = null!;
    private Backend _backend = null!;

    [SetUp]
    public async Task StartBackend()
    {
        _bus = new HttpBus { Time = _time };
        _bus.Variables["SECRET"] = "its secret";
        _backend = await Backend.StartAsync();
    }

    [TearDown]
    public async Task StopBackend()
    {
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
    }

    [TestCase(""" "type": "basic", "user": "bus", "password": "${env:SECRET}" """, "Authorization: Basic YnVzOml0cyBzZWNyZXQ=")]
    [
        TestCase(""" "type": "api-key", "key": "${env:SECRET}" """, "X-Api-Key: its secret"),
        TestCase(""" "type": "api-key", "header": "X-Token", "key": "${env:SECRET}" """, "X-Token: its secret")
    ]
    [TestCase(""" "type": "bearer", "token": "${env:SECRET}" """, "Authorization: Bearer its secret"), CancelAfter(30_000)]
    public async Task Credential_of_the_endpoint_takes_the_place_of_what_messages_carry(
        string authentication,
        string expected,
        CancellationToken cancellationToken
    )
    {
        _bus.Read(
            $$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "headers": ["*"], "authentication": { {{authentication}} } } """
        );
        await using var adapter = OutboundEndpoints.Create(_bus, "out");
        var name = expected[..expected.IndexOf(':')];

        await adapter
            .CreateInstance()
            .SendAsync(
                EsbMessage.Create(MessageBody.FromText("body"), _time) with
                {
                    Headers = MessageHeaders.From([new(name, "of a message")]),
                },
                cancellationToken
            );

        Assert.That(_backend.Requests.Single(), Does.Contain(expected).And.Not.Contain("of a message"));
    }

    [
        TestCase(""" "type": "api-key", "key": "${env:SECRET}" """, "key"),
        TestCase(""" "type": "bearer", "token": "${env:SECRET}" """, "token"),
        Property("Case", "HDR-06")
    ]
    public void Credential_that_would_break_out_of_its_header_is_refused(string authentication, string property)
    {
        _bus.Variables["SECRET"] = "its secret\n";

        _bus.Read($$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "authentication": { {{authentication}} } } """);

        var error = _bus.Errors.All.Single();
        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-HEADER", $"endpoints.out.authentication.{property}")));
        Assert.That(error.ToString(), Does.Not.Contain("its secret"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_shows_the_credential_of_its_target_instead_of_that_of_the_caller(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "authentication": { "type": "bearer", "token": "${env:SECRET}" } }
            """
        );
        _bus.Client.DefaultRequestHeaders.TryAddWithoutValidation("Authorization", "Bearer of the caller");

        using var answer = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);

        Assert.That(_backend.Requests.Single(), Does.Contain("Authorization: Bearer its secret").And.Not.Contain("of the caller"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Token_in_a_file_is_read_again_once_it_changes(CancellationToken cancellationToken)
    {
        var file = Path.GetTempFileName();
        try
        {
            SecretText.Write(file, "first");
            _bus.Read(
                $$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "authentication": { "type": "bearer", "file": "{{file}}" } } """
            );
            await using var adapter = OutboundEndpoints.Create(_bus, "out");
            var endpoint = adapter.CreateInstance();

            foreach (var token in new[] { "first", "", "second" })
            {
                SecretText.Write(file, token);
                _time.Advance(TimeSpan.FromSeconds(6));
                await endpoint.SendAsync(EsbMessage.Create(MessageBody.FromText("body"), _time), cancellationToken);
            }
        }
        finally
        {
            File.Delete(file);
        }

        var shown = _backend.Requests.Select(request =>
            request.Split('\n').Single(line => line.StartsWith("Authorization:", StringComparison.Ordinal))
        );
        Assert.That(
            shown,
            Is.EqualTo(new[] { "Authorization: Bearer first", "Authorization: Bearer first", "Authorization: Bearer second" })
        );
        Assert.That(
            _bus.Log.All.Select(line => line.Text),
            Has.One.Contains("holds no token").And.One.Contains("the token of endpoint out has changed and is in use as of now")
        );
    }
}
