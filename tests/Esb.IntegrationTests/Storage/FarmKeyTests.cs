namespace Esb.IntegrationTests.Storage;

/// <summary>The key that hosts of one store sign with.</summary>
public sealed class FarmKeyTests
{
    [Test, CancelAfter(60_000)]
    public async Task Hosts_that_start_at_once_have_one_key_and_keep_it(CancellationToken cancellationToken)
    {
        await using var schema = await TestSchema.StartAsync();
        var other = schema.Open(Path.Combine(schema.Config.Folder, "other"));
        await other.StartAsync(cancellationToken);

        var keys = await Task.WhenAll(new[] { schema.First, other }.Select(store => store.FarmKeys.FindOrMakeAsync(cancellationToken)));
        var later = await other.FarmKeys.FindOrMakeAsync(cancellationToken);

        Assert.That(keys[0], Has.Length.EqualTo(32));
        Assert.That(keys[1], Is.EqualTo(keys[0]));
        Assert.That(later, Is.EqualTo(keys[0]));
    }
}
