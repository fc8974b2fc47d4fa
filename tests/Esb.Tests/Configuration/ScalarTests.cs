using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Tests.Configuration;

public sealed class ScalarTests
{
    [Test]
    [TestCase("250ms", 250)]
    [TestCase("5s", 5_000)]
    [TestCase("10m", 600_000)]
    [TestCase("2h", 7_200_000)]
    [TestCase("30d", 2_592_000_000)]
    [TestCase("0s", 0)]
    public void A_duration_is_a_whole_number_and_a_unit(string text, long milliseconds)
    {
        Assert.That(Duration.TryParse(text, out var duration), Is.True);
        Assert.That(duration.TotalMilliseconds, Is.EqualTo(milliseconds));
        Assert.That(Duration.Format(duration), Is.EqualTo(text));
    }

    [Test]
    public void A_duration_is_written_in_its_largest_whole_unit(
        [Values("60s=1m", "90s=90s", "3600s=1h", "24h=1d", "1000ms=1s")] string pair
    )
    {
        var (text, expected) = (pair.Split('=')[0], pair.Split('=')[1]);

        Assert.That(Duration.TryParse(text, out var duration), Is.True);
        Assert.That(Duration.Format(duration), Is.EqualTo(expected));
    }

    [Test]
    public void Anything_else_is_no_duration(
        [Values("", "5", "s", "-5s", "+5s", "5 s", " 5s", "5s ", "1.5s", "5S", "5min", "999999999999999999s", "99999999999999999999d")]
            string text
    ) => Assert.That(Duration.TryParse(text, out _), Is.False);

    [Test]
    [TestCase("0B", 0)]
    [TestCase("512B", 512)]
    [TestCase("64KiB", 65_536)]
    [TestCase("4MiB", 4_194_304)]
    [TestCase("1GiB", 1_073_741_824)]
    public void A_size_is_a_whole_number_and_a_binary_unit(string text, long bytes)
    {
        Assert.That(ByteSize.TryParse(text, out var size), Is.True);
        Assert.That(size.Bytes, Is.EqualTo(bytes));
        Assert.That(size.ToString(), Is.EqualTo(text));
    }

    [Test]
    public void Anything_else_is_no_size(
        [Values("", "4", "B", "-4B", "4MB", "4 MiB", "4mib", "1.5MiB", "9999999999999GiB", "10 Mb b")] string text
    ) => Assert.That(ByteSize.TryParse(text, out _), Is.False);

    [Test]
    [TestCase("procesingThreads", "processingThreads", ExpectedResult = "processingThreads")]
    [TestCase("POOLSIZE", "poolSize", ExpectedResult = "poolSize")]
    [TestCase("pol", "poolSize", ExpectedResult = null)]
    [TestCase("zzzz", "poolSize", ExpectedResult = null)]
    [TestCase("xx", "if", ExpectedResult = null)]
    [TestCase("", "id", ExpectedResult = null)]
    public string? The_nearest_name_differs_in_a_third_at_most(string written, string name) => NearestName.Find(written, ["other", name]);

    [Test]
    public void The_nearest_of_several_names_wins() =>
        Assert.That(NearestName.Find("pullSize", ["poolTimeout", "poolSize", "path"]), Is.EqualTo("poolSize"));

    [Test, CancelAfter(30_000)]
    public void A_monstrous_name_is_near_to_nothing() => Assert.That(NearestName.Find(new string('x', 1_000_000), ["poolSize"]), Is.Null);
}
