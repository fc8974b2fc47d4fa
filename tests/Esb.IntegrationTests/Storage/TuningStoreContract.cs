using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every keeper of tuned settings promises.</summary>
public abstract class TuningStoreContract
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 8, 0, 0, TimeSpan.Zero);

    private ITuningStore _store = null!;

    protected abstract Task<ITuningStore> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task Last_value_of_each_setting_is_kept_with_who_and_when(CancellationToken cancellationToken)
    {
        await _store.SetAsync([Of("b", "poolSize", "4"), Of("a", "retry", "{\"immediate\":0}")], cancellationToken);
        await _store.SetAsync([Of("b", "poolSize", "8") with { By = "ops", Configured = null }], cancellationToken);

        Assert.That(
            await _store.ListAsync(cancellationToken),
            Is.EqualTo(new[] { Of("a", "retry", "{\"immediate\":0}"), Of("b", "poolSize", "8") with { By = "ops", Configured = null } })
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task One_setting_or_all_of_an_endpoint_are_removed(CancellationToken cancellationToken)
    {
        await _store.SetAsync(
            [Of("a", "poolSize", "4"), Of("a", "rate", "10"), Of("b", "poolSize", "4"), Of("b", "rate", "10")],
            cancellationToken
        );
        await _store.RemoveAsync("a", "rate", cancellationToken);
        await _store.RemoveAsync("b", setting: null, cancellationToken);
        await _store.RemoveAsync("c", setting: null, cancellationToken);

        Assert.That(await _store.ListAsync(cancellationToken), Is.EqualTo(new[] { Of("a", "poolSize", "4") }));
    }

    private static TunedSetting Of(string endpoint, string setting, string value) => new(endpoint, setting, value, "1", "somebody", Now);
}

public sealed class FileTuningStoreTests : TuningStoreContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<ITuningStore> OpenAsync() => (await _folder.OpenAsync()).Tuning;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class PostgresTuningStoreTests : TuningStoreContract
{
    private TestSchema _schema = null!;

    protected override async Task<ITuningStore> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.Tuning;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}
