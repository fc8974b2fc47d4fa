using System.Net;
using Esb.Core;
using Esb.Host.Lifecycle;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Management;

/// <summary>Whether a host is alive and ready is told to everybody.</summary>
[CancelAfter(30_000)]
public sealed class HealthApiTests
{
    private RunningManagement _host = null!;
    private IHealthCheck _health = null!;

    private HttpClient Client => _host.Client;

    [SetUp]
    public async Task Start()
    {
        _health = Substitute.For<IHealthCheck>();
        _health.Name.Returns("topics");
        _host = await RunningManagement.StartAsync(CancellationToken.None, services => services.AddSingleton(_health));
    }

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test, Property("Case", "API-25")]
    public async Task Host_is_not_ready_while_a_check_fails_and_keeps_its_exception_to_itself(CancellationToken cancellationToken)
    {
        _health
            .CheckAsync(Arg.Any<CancellationToken>())
            .Returns(
                new ValueTask<string?>("the broker is away"),
                ValueTask.FromException<string?>(new InvalidOperationException("password=hunter2"))
            );

        using var away = await Client.GetAsync("/health/ready", cancellationToken);
        using var failed = await Client.GetAsync("/health/ready", cancellationToken);

        Assert.That((int)away.StatusCode, Is.EqualTo(503));
        Assert.That(await away.Content.ReadAsStringAsync(cancellationToken), Does.Contain("the broker is away"));
        Assert.That(await failed.Content.ReadAsStringAsync(cancellationToken), Does.Contain("topics").And.Not.Contain("hunter2"));
        Assert.That((await Client.GetAsync("/health/live", cancellationToken)).StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    [Test]
    public async Task Host_that_stops_is_not_ready_any_more(CancellationToken cancellationToken)
    {
        _host.Services.GetRequiredService<HostState>().Stopping();

        using var response = await Client.GetAsync("/health/ready", cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(503));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("stopping"));
    }
}
