using System.Text;
using Esb.Content.Formats;
using Esb.Tests.Content.Splitting;

namespace Esb.Tests.Content.Formats;

public sealed class TextWindowTests
{
    [Test]
    public void Window_grows_until_it_holds_the_longest_record_that_a_format_may_allow()
    {
        const int Longest = 1 << 30; // "maxLine": "1GiB"
        var length = 64 * 1024;
        var steps = 0;

        while (length <= Longest + (1 << 20) && steps++ < 100)
            length = TextWindow.Doubled(length);

        Assert.That(length, Is.EqualTo(Array.MaxLength), "the record, its end, and the piece that is read behind it");
    }

    [TestCase(1, 2), TestCase(65_536, 131_072), TestCase((1 << 29) + 1, (1 << 30) + 2)]
    public void Window_doubles_below_that(int length, int larger) => Assert.That(TextWindow.Doubled(length), Is.EqualTo(larger));

    [Test]
    public void Long_record_is_looked_at_a_few_times_not_once_for_each_piece_of_it()
    {
        var piece = Encoding.UTF8.GetBytes(new string('x', 32 * 1024));
        using var stream = new GeneratedStream(number => number < 512 ? piece : null); // 16 MiB
        var window = new FormatText("rows", Encoding.UTF8).Open(stream);
        var moves = 0;

        for (; !window.IsEnd; moves++)
            window.Move(0);

        Assert.That(window.Text.Length, Is.EqualTo(16 << 20));
        Assert.That(moves, Is.LessThan(20), "512 pieces");
    }

    [Test]
    public void Records_between_a_long_one_and_a_fault_are_read()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""");
        var text = Encoding.UTF8.GetBytes($"a\n{new string('x', 25_000)}\n2\n3\n{new string('y', 6_000)}\0");
        var lines = new List<int>();

        var fault = Assert.Throws<FormatFaultException>(() =>
        {
            foreach (var record in formats.Format.ReadRecords(GeneratedStream.Of(text, mostAtOnce: 10_000)))
                lines.Add(record.Line);
        })!;

        Assert.That((fault.Code, fault.Line), Is.EqualTo(("ESB-FLAT-BINARY", 5)), fault.Message);
        Assert.That(lines, Is.EqualTo(new[] { 2, 3, 4 }));
    }
}
