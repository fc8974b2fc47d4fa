using Esb.Storage;

namespace Esb.IntegrationTests.Storage;

public sealed class FileWorkflowStoreTests : WorkflowStoreContract
{
    private readonly TestFolder _folder = new();

    private protected override async Task<Store> OpenAsync() => await _folder.OpenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}
