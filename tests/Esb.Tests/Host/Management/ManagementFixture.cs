namespace Esb.Tests.Host.Management;

/// <summary>A host for each test, and who asks it.</summary>
public abstract class ManagementFixture
{
    private protected RunningManagement Host { get; private set; } = null!;

    private protected HttpClient Client => Host.Client;

    [SetUp]
    public async Task Start() => Host = await RunningManagement.StartAsync(CancellationToken.None);

    [TearDown]
    public async Task Stop() => await Host.DisposeAsync();
}
