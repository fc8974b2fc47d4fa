namespace Esb.IntegrationTests;

/// <summary>All hosts and commands that the tests start share a key, as those of a farm with file stores have to.</summary>
[SetUpFixture]
public sealed class FarmKey
{
    [OneTimeSetUp]
    public void Share() => Environment.SetEnvironmentVariable("ESB__FARM__KEY", "the key that hosts of the tests share");
}
