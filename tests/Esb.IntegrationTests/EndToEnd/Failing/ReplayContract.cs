using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Dead letters of a whole host, from the failing shop to the replay, whatever transport and store it has.</summary>
[CancelAfter(180_000)]
public abstract class ReplayContract : ShopHost
{
    [Test]
    public async Task Dead_letters_arrive_after_the_shop_is_mended_at_the_rate_asked_for_with_their_ids(CancellationToken cancellationToken)
    {
        var ids = await MakeLettersAsync(60, cancellationToken);
        var groups = await Host.AskAsync("/api/dead-letters/groups?by=cause&endpoint=shop", cancellationToken);

        Shop.Refuses = _ => false;
        var started = TimeProvider.System.GetTimestamp();
        var (exitCode, output, error) = await RunAsync(
            cancellationToken,
            "dead-letters",
            "replay",
            "--endpoint",
            "shop",
            "--rate",
            "20",
            "--reason",
            "mended",
            "--command",
            "monday",
            "--wait"
        );
        var elapsed = TimeProvider.System.GetElapsedTime(started);
        await TakenAsync(ids, cancellationToken);
        var (repeated, again, _) = await RunAsync(
            cancellationToken,
            "dead-letters",
            "replay",
            "--endpoint",
            "shop",
            "--rate",
            "20",
            "--reason",
            "mended",
            "--command",
            "monday",
            "--wait"
        );

        var letters = Items(await Host.AskAsync("/api/dead-letters?endpoint=shop&limit=1000", cancellationToken));
        var journey = Items(await Host.AskAsync($"/api/messages/{ids[0]}", cancellationToken));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(groups.GetProperty("items")[0].GetProperty("count").GetInt64(), Is.EqualTo(60));
            Assert.That(exitCode, Is.Zero, error);
            Assert.That(repeated, Is.Zero);
            Assert.That(again.Split('\n')[0], Is.EqualTo(output.Split('\n')[0]), "the same command, the same job");
            Assert.That(output, Does.Contain("completed: 60 of 60 sent, 0 came back"));
            Assert.That(elapsed, Is.GreaterThan(TimeSpan.FromSeconds(2.5)), "60 at 20/s");
            Assert.That(Shop.Taken.Select(taken => taken.Message), Is.EquivalentTo(ids), "each once");
            Assert.That(letters.Select(letter => letter.GetProperty("state").GetString()), Is.All.EqualTo("replayed"));
            Assert.That(
                journey.Select(fact => fact.GetProperty("kind").GetString()),
                Is.SupersetOf(new[] { "dead-lettered", "replayed", "delivered" })
            );
        }
    }

    [Test, Category("Thorough"), Property("Case", "CLI-10")]
    public async Task Wait_for_a_job_that_is_interrupted_leaves_the_job_running(CancellationToken cancellationToken)
    {
        await MakeLettersAsync(20, cancellationToken);
        Shop.Refuses = _ => false;

        var (exitCode, line, error) = await CommandLine.InterruptAsync(
            Host.Folder,
            cancellationToken,
            ["dead-letters", "replay", "--all", "--rate", "0.1", "--wait", "--url", Host.Management.ToString()]
        );

        var id = line.Split(' ', ':')[1];
        var job = await Host.AskAsync($"/api/replays/{id}", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(exitCode, Is.EqualTo(130), error);
            Assert.That(error, Does.Contain($"esb replays show {id}"));
            Assert.That(error, Does.Not.Contain("   at "));
            Assert.That(StateOf(job), Is.EqualTo("running"));
        }
    }

    [Test, Category("Thorough")]
    public async Task Job_stops_when_its_letters_come_back_and_those_are_open_again(CancellationToken cancellationToken)
    {
        var ids = await MakeLettersAsync(100, cancellationToken);

        Shop.Refuses = body => int.Parse(body) % 2 == 0;
        var job = await PostAsync(
            "/api/replays",
            """{ "filter": { "endpoint": "shop" }, "batchSize": 40, "batchPause": "2s", "stopAtFailureShare": 0.3 }""",
            cancellationToken
        );
        var path = $"/api/replays/{job.GetProperty("id").GetString()}";
        await Host.WaitAsync(
            async token => StateOf(await Host.AskAsync(path, token)) == "stopped",
            TimeSpan.FromSeconds(60),
            "to stop the job",
            cancellationToken
        );
        var stopped = await Host.AskAsync(path, cancellationToken);

        Shop.Refuses = _ => false;
        await PostAsync($"{path}/resume", "", cancellationToken);
        await Host.WaitAsync(
            async token => StateOf(await Host.AskAsync(path, token)) == "completed",
            TimeSpan.FromSeconds(60),
            "to finish the job",
            cancellationToken
        );
        await PostAsync("/api/replays", """{ "filter": { "endpoint": "shop" } }""", cancellationToken);
        await TakenAsync(ids, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(stopped.GetProperty("replayed").GetInt64(), Is.LessThanOrEqualTo(30), "one batch, or two");
            Assert.That(stopped.GetProperty("failed").GetInt64(), Is.GreaterThanOrEqualTo(3));
            Assert.That(Shop.Taken.Select(taken => taken.Message), Is.EquivalentTo(ids), "each once");
        }
    }

    [Test]
    public async Task Edited_letter_arrives_as_a_new_message_and_the_original_stays(CancellationToken cancellationToken)
    {
        var id = (await MakeLettersAsync(1, cancellationToken))[0];
        var letter = Items(await Host.AskAsync("/api/dead-letters?endpoint=shop", cancellationToken))[0].GetProperty("id").GetString();

        Shop.Refuses = body => body != "mended";
        var job = await PostAsync(
            $"/api/dead-letters/{letter}/replay",
            """{ "edit": { "body": "mended" }, "reason": "wrong number" }""",
            cancellationToken
        );
        await Host.WaitAsync(
            _ => Task.FromResult(Shop.Taken.Count == 1),
            TimeSpan.FromSeconds(20),
            "to send the edited order",
            cancellationToken
        );
        await Host.WaitAsync(
            async token => StateOf(await Host.AskAsync($"/api/dead-letters/{letter}", token)) == "replayed",
            TimeSpan.FromSeconds(20),
            "to mark the letter",
            cancellationToken
        );

        var kept = await Host.AskAsync($"/api/dead-letters/{letter}", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                Shop.Taken.Single().Message,
                Is.Not.EqualTo(id).And.EqualTo(job.GetProperty("editedAs").GetGuid()).And.EqualTo(kept.GetProperty("replayedAs").GetGuid())
            );
            Assert.That(kept.GetProperty("messageId").GetGuid(), Is.EqualTo(id));
        }
    }

    [Test, Category("Faults"), Property("Case", "T-RPL-1")]
    [OwnProcess]
    public async Task Host_that_is_killed_while_it_replays_loses_nothing(CancellationToken cancellationToken)
    {
        const int count = 500;
        var ids = await MakeLettersAsync(count, cancellationToken);
        Shop.Refuses = _ => false;
        var job = await PostAsync("/api/replays", """{ "filter": { "endpoint": "shop" }, "rate": 100 }""", cancellationToken);
        var path = $"/api/replays/{job.GetProperty("id").GetString()}";

        for (var kill = 1; kill <= 3; kill++)
        {
            await Host.WaitAsync(
                _ => Task.FromResult(Shop.Taken.Count >= kill * 80),
                TimeSpan.FromSeconds(60),
                "to replay",
                cancellationToken
            );
            Host.Kill();
            await Host.DisposeAsync();
            await StartHostAsync(cancellationToken);
        }

        await Host.WaitAsync(
            async token => StateOf(await Host.AskAsync(path, token)) == "completed",
            TimeSpan.FromSeconds(60),
            "to finish the job",
            cancellationToken
        );
        await TakenAsync(ids, cancellationToken);

        var taken = Shop.Taken.Select(order => order.Message).ToList();
        var done = await Host.AskAsync(path, cancellationToken);
        var open = Items(await Host.AskAsync("/api/dead-letters?state=open&endpoint=shop&limit=1000", cancellationToken));
        TestContext.Out.WriteLine(
            $"{count} letters, 3 kills: {taken.Distinct().Count()} arrived, {taken.Count - taken.Distinct().Count()} repeated with "
                + $"the same id, {open.Count} open"
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(ids.Except(taken), Is.Empty, "in neither");
            Assert.That(taken.Except(ids), Is.Empty, "unexpected");
            Assert.That(open, Is.Empty);
            Assert.That((done.GetProperty("replayed").GetInt64(), done.GetProperty("failed").GetInt64()), Is.EqualTo((count, 0)));
        }
    }
}
