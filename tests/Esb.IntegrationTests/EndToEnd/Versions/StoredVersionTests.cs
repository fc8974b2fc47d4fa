using System.Text.Json.Nodes;

namespace Esb.IntegrationTests.EndToEnd.Versions;

/// <summary>Versions in the store are what the host runs: applied, refused, rolled back, and still there after a restart.</summary>
[CancelAfter(120_000)]
public sealed class StoredVersionTests : VersionFixture
{
    private protected override string Place => "store";

    [Test]
    public async Task Applied_version_goes_into_service_with_its_maps_and_outlasts_a_restart(CancellationToken cancellationToken)
    {
        var before = await MarkAsync(cancellationToken);
        Endpoints["shop"]!["path"] = "/shop";
        await WriteAsync("two");
        var unchanged = await MarkAsync(cancellationToken);
        var (exitCode, output, error) = await EsbAsync(cancellationToken, "apply", Configuration, "--reason", "a better map");
        var after = await MarkAsync(cancellationToken, "/shop");
        await WriteAsync("three"); // files are not what it runs
        await RestartAsync(cancellationToken);

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(output, Does.Contain("Version 2, revision ").And.Contain("replace endpoint shop").Or.Contain("exchange settings"));
        Assert.That((before, unchanged, after), Is.EqualTo(("one", "one", "two")));
        Assert.That(await MarkAsync(cancellationToken, "/shop"), Is.EqualTo("two"));
        Assert.That(await RunningAsync(cancellationToken), Is.EqualTo(2));
    }

    [Test, Category("Thorough")]
    public async Task Earlier_version_goes_into_service_again_as_a_new_one(CancellationToken cancellationToken)
    {
        await WriteAsync("two");
        await EsbAsync(cancellationToken, "apply", Configuration);
        File.Delete(Path.Combine(Configuration, "maps", "mark.xslt")); // the version has it
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "rollback", "1", "--reason", "two is wrong");
        var list = await EsbAsync(cancellationToken, "versions", "list");
        var diff = await EsbAsync(cancellationToken, "versions", "diff", "1", "2");
        var gone = await EsbAsync(cancellationToken, "rollback", "9");

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(await MarkAsync(cancellationToken), Is.EqualTo("one"));
        Assert.That(
            (await VersionsAsync(cancellationToken)).Select(one =>
                (one.GetProperty("number").GetInt64(), one.GetProperty("kind").GetString())
            ),
            Is.EqualTo(new[] { (3L, "rollback"), (2L, "apply"), (1L, "start") })
        );
        Assert.That(list.Output, Does.Contain("two is wrong").And.Contain("in service"));
        Assert.That(diff.Output, Does.Contain("+++ maps/mark.xslt").And.Contain("by=\"two\"").And.Not.Contain("esb.json"));
        Assert.That(gone.Error, Does.Contain("ESB-API-NOTFOUND"));
    }

    [Test, Category("Thorough")]
    public async Task Earlier_version_goes_into_service_although_its_map_is_gone_from_the_folder_of_the_host(
        CancellationToken cancellationToken
    )
    {
        var versions = Path.Combine(Host.Folder, "esb-data", "configuration");
        var map = Directory.GetFiles(versions, "mark.xslt", SearchOption.AllDirectories).Single();
        await WriteAsync("two");
        Assert.That((await EsbAsync(cancellationToken, "apply", Configuration)).ExitCode, Is.Zero);
        File.Delete(map);
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "rollback", "1");

        Assert.That(exitCode, Is.Zero, error);
        Assert.That((await MarkAsync(cancellationToken), File.Exists(map)), Is.EqualTo(("one", true)));
    }

    [Test, Category("Thorough"), Property("Case", "API-17")]
    public async Task Change_made_of_an_older_version_is_a_conflict(CancellationToken cancellationToken)
    {
        var mine = Path.Combine(Folder.FullName, "mine");
        Assert.That((await EsbAsync(cancellationToken, "versions", "show", "1", "--to", mine)).ExitCode, Is.Zero);
        await WriteAsync("two");
        Assert.That((await EsbAsync(cancellationToken, "apply", Configuration)).ExitCode, Is.Zero);
        var map = Path.Combine(mine, "maps", "mark.xslt");
        await File.WriteAllTextAsync(map, (await File.ReadAllTextAsync(map, cancellationToken)).Replace("one", "mine"), cancellationToken);
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "apply", mine);
        var second = await MarkAsync(cancellationToken);
        var forced = await EsbAsync(cancellationToken, "apply", mine, "--based-on", "2");

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-CONFLICT").And.Contain("version 2"));
        Assert.That(second, Is.EqualTo("two"));
        Assert.That(forced.ExitCode, Is.Zero, forced.Error);
        Assert.That(await MarkAsync(cancellationToken), Is.EqualTo("mine"));
        Assert.That(await File.ReadAllTextAsync(Path.Combine(mine, ".esb-version"), cancellationToken), Is.EqualTo("3\n"));
    }

    [Test, Category("Thorough")]
    public async Task Refused_version_changes_nothing_and_names_its_errors(CancellationToken cancellationToken)
    {
        Endpoints["shop"]!["process"] = "nowhere";
        Json["limits"] = new JsonObject { ["maxBodySize"] = "much" };
        await WriteAsync("two");
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "apply", Configuration);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(
            error,
            Does.Contain("endpoints.shop.process").And.Contain("limits.maxBodySize").And.Contain("esb.json:1:").And.Not.Contain(Host.Folder)
        );
        Assert.That(await MarkAsync(cancellationToken), Is.EqualTo("one"));
        Assert.That(await VersionsAsync(cancellationToken), Has.Count.EqualTo(1));
    }

    [Test, Category("Thorough")]
    public async Task Version_with_which_an_endpoint_cannot_start_is_rolled_back(CancellationToken cancellationToken)
    {
        Endpoints["broken"] = Broken();
        await WriteAsync("two");
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "apply", Configuration);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-ROLLEDBACK").And.Contain("endpoint broken cannot start"));
        Assert.That(await MarkAsync(cancellationToken), Is.EqualTo("one"));
        Assert.That(await NoticesAsync(cancellationToken), Has.One.StartsWith("ESB-CONFIG-ROLLEDBACK"));
        Assert.That(
            (await VersionsAsync(cancellationToken)).Select(one => one.GetProperty("kind").GetString()),
            Is.EqualTo(new[] { "automatic rollback", "apply", "start" })
        );
        Assert.That(await RunningAsync(cancellationToken), Is.EqualTo(3));
    }

    [Test, Category("Thorough")]
    public async Task Version_with_which_a_single_instance_endpoint_cannot_start_is_rolled_back(CancellationToken cancellationToken)
    {
        Json["processes"]!["note"] = JsonNode.Parse("""[{ "log": "a file" }]""");
        Endpoints["broken"] = BrokenSingle();
        await WriteAsync("two");
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "apply", Configuration);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-ROLLEDBACK").And.Contain("endpoint broken cannot start: its library is missing"));
        Assert.That((await MarkAsync(cancellationToken), await RunningAsync(cancellationToken)), Is.EqualTo(("one", 3L)));
        Assert.That(
            (await Host.AskAsync("/api/endpoints", cancellationToken)).GetRawText(),
            Does.Contain("\"shop\"").And.Not.Contain("\"broken\"")
        );
    }

    [Test, Category("Thorough")]
    public async Task Plan_compares_the_maps_of_the_operator(CancellationToken cancellationToken)
    {
        await WriteAsync("two");
        var planned = await EsbAsync(cancellationToken, "plan", Configuration);

        Assert.That(planned.Output, Does.Contain("exchange maps or schemas whose files changed"), planned.Error);
        Assert.That(await MarkAsync(cancellationToken), Is.EqualTo("one"));
    }

    [Test, Category("Thorough"), Property("Case", "API-20")]
    public async Task Map_outside_of_the_folder_is_refused(CancellationToken cancellationToken)
    {
        Json["maps"]!["mark"] = "../outside.xslt";
        await WriteAsync("two");
        File.Move(Path.Combine(Configuration, "maps", "mark.xslt"), Path.Combine(Folder.FullName, "outside.xslt"));
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "apply", Configuration);

        Assert.That((exitCode, error), Is.EqualTo((3, error)));
        Assert.That(error, Does.Contain("ESB-CONFIG-CONTENT").And.Contain("outside.xslt"));
    }
}
