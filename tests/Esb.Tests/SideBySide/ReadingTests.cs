using SideBySide;
using SideBySide.Measuring;
using SideBySide.Scenarios;
using SideBySide.Servers;
using SideBySide.Steps;
using SideBySide.Targets;
using SideBySide.Topics;

namespace Esb.Tests.SideBySide;

/// <summary>What the comparison reads: its command line, the output of its tools, the kernel.</summary>
public sealed class ReadingTests
{
    [Test]
    public void The_rate_of_wrk_is_of_the_time_that_it_took() =>
        Assert.That(WrkOutput.Parse("Running 5s test\nRESULT 1000 2000000 0 0 900 4000\n"), Is.EqualTo(new Load(1_000, 500, null)));

    [TestCase("RESULT 1000 2000000 3 0 1 1", "3 of 1000 answers were wrong")]
    [TestCase("RESULT 1000 2000000 0 2 1 1", "2 connections broke or waited too long")]
    [TestCase("RESULT 0 2000000 0 0 1 1", "no answer at all")]
    public void What_wrk_found_wrong_is_a_flaw(string output, string flaw) => Assert.That(WrkOutput.Parse(output).Flaw, Is.EqualTo(flaw));

    [Test]
    public void Without_a_result_nothing_ran() => Assert.That(() => WrkOutput.Parse("unable to connect"), Throws.TypeOf<NotRunException>());

    [Test]
    public void Of_all_steps_the_best_rate_is_kept() =>
        Assert.That(
            StepResult.Best([
                StepResult.Parse(20, "1000 0 2000 3 5.5"),
                StepResult.Parse(60, "4000 0 2000 9 20.25"),
                StepResult.Parse(100, "3000 0 2000 9 44"),
            ]),
            Is.EqualTo("2,000/s, p95 20.3 ms, 60 callers")
        );

    [Test]
    public void One_wrong_answer_in_any_step_spoils_the_row() =>
        Assert.That(
            StepResult.Best([StepResult.Parse(20, "1000 1 2000 3 5"), StepResult.Parse(60, "4000 0 2000 9 20")]),
            Is.EqualTo("1 answers were wrong")
        );

    [Test]
    public void PerfTest_is_read_behind_its_cold_seconds()
    {
        var lines = string.Join(
            '\n',
            new[] { 1, 2, 3, 500, 700, 600 }.Select(rate =>
                $"id: t, time 1.0 s, sent: 9 msg/s, confirmed: 9 msg/s, received: {rate} msg/s, latency: 1/2 µs"
            )
        );

        Assert.That(PerfTestTarget.Received(lines), Is.EqualTo(600));
    }

    [Test]
    public void The_rate_of_pgbench_is_its_commits() =>
        Assert.That(
            PgbenchTarget.Commits("latency average = 4.1 ms\ntps = 7265.957855 (without initial connection time)\n"),
            Is.EqualTo(7265.957855)
        );

    [Test]
    public void An_order_has_its_number_and_its_size()
    {
        var body = OrderPublisher.Body("r7", 42);

        Assert.That(
            (body.Length, System.Text.Json.JsonDocument.Parse(body).RootElement.GetProperty("order").GetString()),
            Is.EqualTo((1_024, "r7-42"))
        );
    }

    [Test]
    public void Processor_time_is_read_behind_a_name_with_blanks() =>
        Assert.That(ProcessTree.Ticks("42 (a b) c) S 1 42 42 0 -1 4194304 1 2 3 4 70 30 0 0 20 0"), Is.EqualTo(100));

    [Test]
    public void Scenarios_and_lengths_are_taken_from_the_command_line()
    {
        var options = CompareOptions.Parse(["S3", "--rounds", "7", "S12"]);

        Assert.Multiple(() =>
        {
            Assert.That(options.Wanted, Is.EquivalentTo((string[])["S3", "S12"]));
            Assert.That((options.Method.Rounds, options.IsQuick), Is.EqualTo((7, false)));
        });
    }

    [TestCase("--quick")]
    [TestCase("--rounds", "4")]
    [TestCase("--seconds", "1")]
    [TestCase("--warm-up", "5")]
    [TestCase("--earlier", "/builds/before")]
    public void What_is_shorter_than_the_method_asks_is_not_published(params string[] arguments) =>
        Assert.That(CompareOptions.Parse(arguments).IsQuick, Is.True);

    [TestCase("--fast")]
    [TestCase("S")]
    [TestCase("--rounds")]
    [TestCase("--rounds", "0")]
    [TestCase("--earlier")]
    public void What_the_command_line_does_not_know_is_refused(params string[] arguments) =>
        Assert.That(() => CompareOptions.Parse(arguments), Throws.ArgumentException);

    [TestCase("0.5K")]
    [TestCase("100K")]
    public void A_document_fills_its_size_and_reverses_every_name(string size)
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        try
        {
            var documents = new OrderDocuments(folder.FullName);

            Assert.Multiple(() =>
            {
                Assert.That(
                    new FileInfo(documents.Plain(size)).Length,
                    Is.InRange(OrderDocuments.Sizes[size] - 150, OrderDocuments.Sizes[size] + 50)
                );
                Assert.That(File.ReadAllText(documents.Reversed(size)), Does.Contain("<xsd:skcotSyub><redro><lobmys>IBM</lobmys>"));
                Assert.That(OrderDocuments.SameXmlAs(documents.Plain(size))(File.ReadAllBytes(documents.Plain(size))), Is.Null);
                Assert.That(OrderDocuments.SameXmlAs(documents.Plain(size))(File.ReadAllBytes(documents.Reversed(size))), Is.Not.Null);
            });
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
