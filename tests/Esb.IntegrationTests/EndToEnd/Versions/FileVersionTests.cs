namespace Esb.IntegrationTests.EndToEnd.Versions;

/// <summary>Files are what the host runs; it keeps them as versions, and goes back to one until they change.</summary>
[CancelAfter(120_000)]
public sealed class FileVersionTests : VersionFixture
{
    private protected override string Place => "files";

    [Test, Category("Thorough")]
    public async Task Reloaded_files_are_versions_and_an_earlier_one_runs_until_the_next_reload(CancellationToken cancellationToken)
    {
        await WriteAsync("two");
        Assert.That((await EsbAsync(cancellationToken, "reload")).ExitCode, Is.Zero);
        var second = await MarkAsync(cancellationToken);
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "rollback", "1");
        var back = (await MarkAsync(cancellationToken), await NoticesAsync(cancellationToken));
        var (_, reloaded, _) = await EsbAsync(cancellationToken, "reload");

        Assert.That(exitCode, Is.Zero, error);
        Assert.That((second, back.Item1), Is.EqualTo(("two", "one")));
        Assert.That(back.Item2, Has.One.StartsWith("ESB-CONFIG-ROLLEDBACK"));
        Assert.That(reloaded, Does.Contain("is in service"));
        Assert.That(await MarkAsync(cancellationToken), Is.EqualTo("two"));
        Assert.That(await NoticesAsync(cancellationToken), Is.Empty);
        Assert.That(
            (await VersionsAsync(cancellationToken)).Select(one => one.GetProperty("kind").GetString()),
            Is.EqualTo(new[] { "reload", "rollback", "reload", "start" })
        );
    }

    [Test, Category("Thorough")]
    public async Task Roll_back_to_a_version_whose_map_is_gone_is_refused_and_names_the_map(CancellationToken cancellationToken)
    {
        var map = Path.Combine(Folder.FullName, "outside.xslt"); // outside of the folder of the configuration, so no part of a version
        File.Copy(Path.Combine(Configuration, "maps", "mark.xslt"), map);
        Json["maps"]!["mark"] = map;
        await WriteAsync("two");
        Assert.That((await EsbAsync(cancellationToken, "reload")).ExitCode, Is.Zero);
        Json["maps"]!["mark"] = "maps/mark.xslt";
        await WriteAsync("three");
        Assert.That((await EsbAsync(cancellationToken, "reload")).ExitCode, Is.Zero);
        File.Delete(map);
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "rollback", "2");

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("maps.mark").And.Contain("outside.xslt").And.Contain("what runs keeps running"));
        Assert.That((await MarkAsync(cancellationToken), await RunningAsync(cancellationToken)), Is.EqualTo(("three", 3L)));
    }

    [Test, Category("Thorough")]
    public async Task Restart_runs_the_files_and_keeps_the_same_version_once(CancellationToken cancellationToken)
    {
        await RestartAsync(cancellationToken);
        await Host.WaitAsync(
            async token => await RunningAsync(token) == 1,
            TimeSpan.FromSeconds(20),
            "to know its version",
            cancellationToken
        );

        Assert.That(await VersionsAsync(cancellationToken), Has.Count.EqualTo(1));
    }

    [Test, Category("Thorough")]
    public async Task Apply_is_refused_where_files_are_what_hosts_run(CancellationToken cancellationToken)
    {
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "apply", Configuration);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-FILES").And.Contain("management.configuration"));
    }

    [Test, Category("Thorough")]
    public async Task Reload_with_which_an_endpoint_cannot_start_is_rolled_back(CancellationToken cancellationToken)
    {
        Endpoints["broken"] = Broken();
        await WriteAsync("two");
        var (exitCode, _, error) = await EsbAsync(cancellationToken, "reload");

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-ROLLEDBACK").And.Contain("endpoint broken cannot start"));
        Assert.That(await NoticesAsync(cancellationToken), Has.One.StartsWith("ESB-CONFIG-ROLLEDBACK"));
    }
}
