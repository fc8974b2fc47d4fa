using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every keeper of versions of the configuration promises.</summary>
[CancelAfter(60_000)]
public abstract class ConfigurationVersionsContract
{
    private IConfigurationVersions _versions = null!;

    protected abstract Task<IConfigurationVersions> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _versions = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test]
    public async Task Accepted_version_is_found_with_its_content(CancellationToken cancellationToken)
    {
        var exchange = Guid.NewGuid();
        var number = await _versions.ProposeAsync(Version(exchange, "a"), cancellationToken);
        var before = (await _versions.FindNewestAsync(cancellationToken), await _versions.IsAcceptedAsync(exchange, cancellationToken));
        var accepted = await _versions.AcceptAsync(number, exchange, cancellationToken);
        var again = await _versions.AcceptAsync(number, exchange, cancellationToken);
        var stored = await _versions.FindAsync("a", cancellationToken);

        Assert.That((number, accepted, again), Is.EqualTo((1L, true, false)));
        Assert.That(before, Is.EqualTo(((ConfigurationVersion?)null, false)));
        Assert.That(await _versions.IsAcceptedAsync(exchange, cancellationToken), Is.True);
        Assert.That(stored!.Version, Is.EqualTo((await _versions.FindNewestAsync(cancellationToken))!));
        Assert.That(
            (stored.Version.Kind, stored.Version.By, stored.Version.Reason, stored.Version.Changes, stored.Version.BasedOn),
            Is.EqualTo(("apply", "ops", "because", "one\ntwo", (long?)null))
        );
        Assert.That(stored.Content.Files["esb.json"], Is.EqualTo("{ \"name\": \"a\" }"));
        Assert.That(stored.Content.Contents["maps/a.xslt"], Is.EqualTo(new byte[] { 0xFF, 0x00, 0x61 }));
    }

    [Test]
    public async Task Version_based_on_another_than_the_newest_is_a_conflict(CancellationToken cancellationToken)
    {
        await KeepAsync("a", cancellationToken);
        await KeepAsync("b", cancellationToken);

        var refusal = Assert.ThrowsAsync<EsbException>(() =>
            _versions.ProposeAsync(Version(Guid.NewGuid(), "c") with { BasedOn = 1 }, cancellationToken)
        )!;
        var number = await _versions.ProposeAsync(Version(Guid.NewGuid(), "c") with { BasedOn = 2 }, cancellationToken);

        Assert.That((refusal.Code, number), Is.EqualTo(("ESB-CONFIG-CONFLICT", 3L)));
    }

    [Test]
    public async Task One_version_is_proposed_at_a_time(CancellationToken cancellationToken)
    {
        var attempts = await Task.WhenAll(
            Enumerable
                .Range(0, 8)
                .Select(async i =>
                {
                    try
                    {
                        return await _versions.ProposeAsync(Version(Guid.NewGuid(), $"{i}"), cancellationToken);
                    }
                    catch (EsbException ex) when (ex.Code == "ESB-CONFIG-BUSY")
                    {
                        return 0;
                    }
                })
        );

        Assert.That(attempts.Order(), Is.EqualTo(new long[] { 0, 0, 0, 0, 0, 0, 0, 1 }));
    }

    [Test]
    public async Task Withdrawn_version_makes_room_and_an_accepted_one_stays(CancellationToken cancellationToken)
    {
        var (first, second) = (Guid.NewGuid(), Guid.NewGuid());
        await _versions.ProposeAsync(Version(first, "a"), cancellationToken);
        await _versions.WithdrawAsync(first, cancellationToken);
        var number = await _versions.ProposeAsync(Version(second, "b"), cancellationToken);
        var late = await _versions.AcceptAsync(number, first, cancellationToken);
        await _versions.AcceptAsync(number, second, cancellationToken);
        await _versions.WithdrawAsync(second, cancellationToken);

        Assert.That((number, late), Is.EqualTo((1L, false)));
        Assert.That((await _versions.ListAsync(cancellationToken)).Select(version => version.Revision), Is.EqualTo(new[] { "b" }));
    }

    [Test]
    public async Task Last_50_versions_are_kept(CancellationToken cancellationToken)
    {
        for (var i = 1; i <= 53; i++)
            await KeepAsync($"{i}", cancellationToken);
        var numbers = (await _versions.ListAsync(cancellationToken)).Select(version => version.Number).ToList();

        Assert.That((numbers.Count, numbers[0], numbers[^1]), Is.EqualTo((50, 53L, 4L)));
        Assert.That(await _versions.FindAsync(3, cancellationToken), Is.Null);
    }

    private async Task KeepAsync(string revision, CancellationToken cancellationToken)
    {
        var exchange = Guid.NewGuid();
        await _versions.AcceptAsync(
            await _versions.ProposeAsync(Version(exchange, revision), cancellationToken),
            exchange,
            cancellationToken
        );
    }

    private static ProposedVersion Version(Guid exchange, string revision) =>
        new(
            exchange,
            revision,
            BasedOn: null,
            "apply",
            "one\ntwo",
            new OperatorDecision("ops", "because"),
            new ConfigurationContent
            {
                Files = new Dictionary<string, string> { ["esb.json"] = $$"""{ "name": "{{revision}}" }""" },
                Contents = new Dictionary<string, byte[]> { ["maps/a.xslt"] = [0xFF, 0x00, 0x61] },
            }
        );
}

public sealed class FileConfigurationVersionsTests : ConfigurationVersionsContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<IConfigurationVersions> OpenAsync() => (await _folder.OpenAsync()).ConfigurationVersions;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class PostgresConfigurationVersionsTests : ConfigurationVersionsContract
{
    private TestSchema _schema = null!;

    protected override async Task<IConfigurationVersions> OpenAsync() =>
        (_schema = await TestSchema.ShareAsync()).Store.ConfigurationVersions;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}
