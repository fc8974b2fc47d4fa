using Esb.Endpoints.Files;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>Which files are taken, and in which order: trigger files, age, folders below.</summary>
[CancelAfter(60_000)]
internal sealed class FileChoiceTests : FileInboundFixture
{
    private RecordingIntake Intake { get; set; } = null!;

    private string Bodies => string.Join(' ', Intake.Bodies);

    [SetUp]
    public void CreateIntake() => Intake = new RecordingIntake();

    [TestCase(FileOrder.Name, "a b c"), TestCase(FileOrder.Time, "c b a")]
    public async Task Files_are_taken_in_order(FileOrder order, string expected, CancellationToken cancellationToken)
    {
        foreach (var (name, age) in new[] { ("a", 1), ("b", 2), ("c", 3) })
            await PutOldAsync($"{name}.xml", name, age, cancellationToken);

        await using var endpoint = await StartAsync(Intake, SomeFiles.InboundConfig(Folder) with { Order = order });
        await Eventually.HoldsAsync(() => Done().Count == 3, "all are taken", cancellationToken);

        Assert.That(Bodies, Is.EqualTo(expected));
        Assert.That(Intake.Messages[0].Properties!["file.name"], Is.EqualTo($"{expected[0]}.xml"));
    }

    [Test]
    public async Task File_waits_for_its_trigger_which_goes_with_it(CancellationToken cancellationToken)
    {
        await PutAsync(At("a.xml"), "a", cancellationToken);
        await PutAsync(At("b.xml"), "b", cancellationToken);
        await PutAsync(At("b.xml.ok"), "", cancellationToken);

        await using var endpoint = await StartAsync(Intake, SomeFiles.InboundConfig(Folder) with { Ready = "{name}.ok" });
        await Eventually.HoldsAsync(() => Done().Count == 1, "the one with a trigger is taken", cancellationToken);
        var left = Directory.GetFiles(Folder).Select(Path.GetFileName).ToList();
        await PutAsync(At("a.xml.ok"), "", cancellationToken);
        await Eventually.HoldsAsync(() => Done().Count == 2 && Claimed().Count == 0, "the other one too", cancellationToken);

        Assert.That((Bodies, string.Join(' ', left), Directory.GetFiles(Folder).Length), Is.EqualTo(("b a", "a.xml", 0)));
    }

    [Test]
    public async Task Trigger_that_a_dead_host_had_claimed_alone_is_put_back(CancellationToken cancellationToken)
    {
        await PutAsync(At("a.xml"), "a", cancellationToken);
        var claim = Directory.CreateDirectory(At(".claimed", Guid.NewGuid().ToString("N"), Guid.NewGuid().ToString("N")));
        await File.WriteAllTextAsync(Path.Combine(claim.Parent!.FullName, ".lock"), "", cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(claim.FullName, ".ready-a.xml.ok"), "", cancellationToken);

        await using var endpoint = await StartAsync(Intake, SomeFiles.InboundConfig(Folder) with { Ready = "{name}.ok" });

        await Eventually.HoldsAsync(() => Done().Count == 1, "the file is taken", cancellationToken);
    }

    [TestCase("{name}.ok"), TestCase(null)]
    public async Task Trigger_that_a_dead_host_had_claimed_with_its_file_goes_with_it(string? ready, CancellationToken cancellationToken)
    {
        var claim = Directory.CreateDirectory(At(".claimed", Guid.NewGuid().ToString("N"), Guid.NewGuid().ToString("N")));
        await File.WriteAllTextAsync(Path.Combine(claim.Parent!.FullName, ".lock"), "", cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(claim.FullName, ".ready-a.xml.ok"), "", cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(claim.FullName, "a.xml"), "a", cancellationToken);

        await using var endpoint = await StartAsync(Intake, SomeFiles.InboundConfig(Folder) with { Ready = ready });

        await Eventually.HoldsAsync(() => Done().Count == 1 && Claimed().Count == 0, "the file is taken", cancellationToken);
    }

    [Test]
    public async Task Young_file_waits_for_its_age(CancellationToken cancellationToken)
    {
        await PutOldAsync("old.xml", "old", hours: 2, cancellationToken);
        await PutAsync(At("young.xml"), "young", cancellationToken);

        await using var endpoint = await StartAsync(Intake, SomeFiles.InboundConfig(Folder) with { MinimumAge = TimeSpan.FromHours(1) });
        await Eventually.HoldsAsync(() => Done().Count == 1, "the old one is taken", cancellationToken);

        Assert.That((Bodies, File.Exists(At("young.xml"))), Is.EqualTo(("old", true)));
    }

    [Test]
    public async Task Folders_below_are_read_when_asked_for_without_links_and_without_the_endpoints_own(CancellationToken cancellationToken)
    {
        var elsewhere = Directory.CreateTempSubdirectory("esb-elsewhere-");
        await File.WriteAllTextAsync(Path.Combine(elsewhere.FullName, "x.xml"), "x", cancellationToken);
        Directory.CreateDirectory(At("a", "b"));
        Directory.CreateDirectory(At("done"));
        Directory.CreateSymbolicLink(At("link"), elsewhere.FullName);
        await PutAsync(At("done", "0.xml"), "0", cancellationToken);
        await PutAsync(At("a", "b", "1.xml"), "1", cancellationToken);

        await using (await StartAsync(Intake, SomeFiles.InboundConfig(Folder) with { Recursive = true }))
            await Eventually.HoldsAsync(() => File.Exists(At("done", "1.xml")), "it is taken", cancellationToken);

        Assert.That(Bodies, Is.EqualTo("1"));
        elsewhere.Delete(recursive: true);
    }

    private async Task PutOldAsync(string name, string text, int hours, CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(At($"{name}.part"), text, cancellationToken);
        File.SetLastWriteTimeUtc(At($"{name}.part"), TimeProvider.System.GetUtcNow().UtcDateTime.AddHours(-hours));
        File.Move(At($"{name}.part"), At(name));
    }
}
