namespace Esb.IntegrationTests.Storage;

/// <summary>Drops the schemas that tests share, after the last of them.</summary>
[SetUpFixture]
public sealed class DropSharedSchemas
{
    [OneTimeTearDown]
    public Task DropAsync() => TestSchema.DropSharedAsync();
}
