using System.Buffers.Binary;
using System.Text;
using Esb.Topics.RabbitMq;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq;

/// <summary>Frames as the broker sends them, however they are divided: only what the client could not parse is changed, and nothing is
/// moved.</summary>
public sealed class HeaderDepthLimiterTests
{
    private static readonly byte[] ScalarsOfEveryType =
    [
        .. Entry("t", 't', 1),
        .. Entry("b", 'b', 0xFF),
        .. Entry("B", 'B', 1),
        .. Entry("s", 's', 1, 2),
        .. Entry("u", 'u', 1, 2),
        .. Entry("I", 'I', 1, 2, 3, 4),
        .. Entry("i", 'i', 1, 2, 3, 4),
        .. Entry("f", 'f', 1, 2, 3, 4),
        .. Entry("l", 'l', 1, 2, 3, 4, 5, 6, 7, 8),
        .. Entry("d", 'd', 1, 2, 3, 4, 5, 6, 7, 8),
        .. Entry("T", 'T', 0, 0, 0, 0, 5, 6, 7, 8),
        .. Entry("D", 'D', 2, 0, 0, 1, 0),
        .. Entry("V", 'V'),
        .. Entry("S", 'S', 0, 0, 0, 2, (byte)'A', (byte)'F'),
        .. Entry("x", 'x', 0, 0, 0, 1, (byte)'A'),
        .. Entry("none", 'A', 0, 0, 0, 0),
        .. Entry("empty", 'F', 0, 0, 0, 0),
    ];

    [Test]
    public void What_the_client_can_read_is_left_as_it_is(
        [Values(1, 2, 3, 7, 64, 100_000)] int pieces,
        [Values(0, HeaderDepthLimiter.MaxDepth)] int depth
    )
    {
        byte[] stream =
        [
            .. Frame(1, [0, 60, 0, 60, (byte)'A', 0xFF]),
            .. HeaderFrame([.. ScalarsOfEveryType, .. Entry("deep", Nest(depth, "AF"))]),
            .. Frame(3, Enumerable.Repeat((byte)'A', 500)),
            .. Frame(8, []),
            .. HeaderFrame(null),
            .. HeaderFrame([]),
            .. HeaderFrame(ScalarsOfEveryType, isAlone: true),
            .. Frame(1, [1]),
        ];

        Assert.That(Pass(stream, pieces), Is.EqualTo(stream));
    }

    [Test]
    public void A_value_that_nests_too_deep_becomes_bytes_below_the_limit(
        [Values("A", "F", "AF")] string types,
        [Values(1, 5, 100_000)] int pieces
    )
    {
        byte[] Stream(int depth) =>
            [.. HeaderFrame([.. Entry("deep", Nest(depth, types)), .. Entry("after", 'I', 1, 2, 3, 4)]), .. Frame(3, [1, 2, 3])];
        var given = Stream(20_000);

        var passed = Pass(given, pieces);
        var read = new ReadOnlyBasicProperties(passed.AsSpan(19)).Headers!;

        var changed = Enumerable.Range(0, given.Length).Where(index => given[index] != passed[index]).ToList();
        Assert.That((changed.Count, (char)passed[changed[0]]), Is.EqualTo((1, 'x')));
        Assert.That((DepthOf(read["deep"]), read["after"]), Is.EqualTo((HeaderDepthLimiter.MaxDepth, 0x01020304)));
    }

    [Test]
    public void Values_beside_each_other_are_limited_one_by_one()
    {
        byte[] headers =
        [
            .. Entry("a", Nest(40, "A")),
            .. Entry("b", Nest(3, "F")),
            .. Entry("c", Nest(33, "AF")),
            .. Entry("list", 'A', 0, 0, 0, 10, (byte)'I', 0, 0, 0, 1, (byte)'I', 0, 0, 0, 2),
        ];

        var read = new ReadOnlyBasicProperties(Pass([.. HeaderFrame(headers)], 100_000).AsSpan(19)).Headers!;

        Assert.That(new[] { "a", "b", "c", "list" }.Select(name => DepthOf(read[name])), Is.EqualTo(new[] { 32, 3, 32, 1 }));
        Assert.That(read["list"], Is.EqualTo(new object[] { 1, 2 }));
    }

    [TestCase(0, 7, "7")]
    [TestCase(28, 7, "0.0000000000000000000000000007")]
    [TestCase(29, 2_000_000_019, "0.0000000000000000000200000001")]
    [TestCase(37, 2_000_000_019, "0.0000000000000000000000000002")]
    [TestCase(38, 2_000_000_019, "0")]
    [TestCase(255, 2_000_000_019, "0")]
    [TestCase(30, -250, "-0.0000000000000000000000000002")]
    public void A_decimal_of_too_many_places_is_cut(int scale, int mantissa, string expected)
    {
        var value = new byte[5];
        value[0] = (byte)scale;
        BinaryPrimitives.WriteUInt32BigEndian(value.AsSpan(1), (uint)Math.Abs(mantissa) | (mantissa < 0 ? 0x80000000 : 0));

        var read = new ReadOnlyBasicProperties(
            Pass([.. HeaderFrame([.. Entry("d", 'D', value), .. Entry("after", 'I', 1, 2, 3, 4)])], 3).AsSpan(19)
        ).Headers!;

        Assert.That(
            ((decimal)read["d"]!, read["after"]),
            Is.EqualTo((decimal.Parse(expected, System.Globalization.CultureInfo.InvariantCulture), 0x01020304))
        );
    }

    [Test]
    public void Headers_that_contradict_themselves_end_the_connection()
    {
        byte[][] malformed =
        [
            Entry("unknown", '?'),
            Entry("longer than the table", 'A', 0, 0, 1, 0),
            Entry("longer than the list", 'A', 0, 0, 0, 6, (byte)'A', 0, 0, 0, 9, (byte)'V'),
            Entry("beyond the list", 'A', 0, 0, 0, 2, (byte)'I', 0, 0, 0, 1),
            Entry("beyond the frame", 'S', 0xFF, 0xFF, 0xFF, 0xFF),
        ];

        foreach (var entry in malformed)
            Assert.That(
                () => Pass([.. HeaderFrame(entry), .. Frame(8, [])], 100_000),
                Throws.TypeOf<IOException>(),
                Encoding.ASCII.GetString(entry)
            );
    }

    private static byte[] Pass(byte[] stream, int pieces)
    {
        var (limiter, passed) = (new HeaderDepthLimiter(), (byte[])stream.Clone());
        for (var at = 0; at < passed.Length; at += pieces)
            limiter.Pass(passed.AsSpan(at, Math.Min(pieces, passed.Length - at)));
        return passed;
    }

    private static int DepthOf(object? value) =>
        value switch
        {
            IDictionary<string, object?> table => 1 + table.Values.Select(DepthOf).DefaultIfEmpty(0).Max(),
            IList<object?> list => 1 + list.Select(DepthOf).DefaultIfEmpty(0).Max(),
            _ => 0,
        };

    // From the outside in; the innermost holds a number.
    private static byte[] Nest(int depth, string types)
    {
        byte[] bottom = [(byte)'I', 0, 0, 0, 9];
        var lengths = new Stack<int>();
        var length = bottom.Length;
        for (var level = depth - 1; level >= 0; level--)
        {
            if (types[level % types.Length] == 'F')
                length++; // an empty name
            lengths.Push(length);
            length += 5;
        }

        var value = new List<byte>(length);
        for (var level = 0; level < depth; level++)
        {
            value.Add((byte)types[level % types.Length]);
            value.AddRange(Number(lengths.Pop()));
            if (types[level % types.Length] == 'F')
                value.Add(0);
        }

        return [.. value, .. bottom];
    }

    private static byte[] Entry(string name, char type, params byte[] value) => Entry(name, [(byte)type, .. value]);

    private static byte[] Entry(string name, byte[] value) => [(byte)name.Length, .. Encoding.ASCII.GetBytes(name), .. value];

    private static byte[] HeaderFrame(byte[]? headers, bool isAlone = false)
    {
        byte[] before = isAlone ? [] : [4, .. "text"u8, 0];
        var flags = (byte)((isAlone ? 0 : 0xC0) | (headers is null ? 0 : 0x20) | 0x10);
        byte[] table = headers is null ? [] : [.. Number(headers.Length), .. headers];
        return Frame(2, [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, flags, 0, .. before, .. table, 2]);
    }

    private static byte[] Frame(byte type, IEnumerable<byte> payload)
    {
        byte[] bytes = [.. payload];
        return [type, 0, 1, .. Number(bytes.Length), .. bytes, 0xCE];
    }

    private static byte[] Number(int value)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(bytes, value);
        return bytes;
    }
}
