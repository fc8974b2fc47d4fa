using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Receiving;
using NSubstitute;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class GroupedAcksTests
{
    private const ushort Prefetch = 16; // groups of four

    private readonly ManualTime _time = new();
    private readonly IChannel _channel = Substitute.For<IChannel>();
    private readonly List<string> _frames = [];
    private readonly List<LinkedListNode<ulong>> _came = [];
    private GroupedAcks _acks = null!;

    [SetUp]
    public void Listen()
    {
        _channel
            .BasicAckAsync(default, default, default)
            .ReturnsForAnyArgs(call => Write(call.ArgAt<bool>(1) ? $"up to {call.ArgAt<ulong>(0)}" : $"{call.ArgAt<ulong>(0)}"));
        _channel.BasicNackAsync(default, default, default, default).ReturnsForAnyArgs(call => Write($"return {call.ArgAt<ulong>(0)}"));
        _acks = new GroupedAcks(_channel, Prefetch, _time);
    }

    [TearDown]
    public async Task CleanUp()
    {
        await _acks.DisposeAsync();
        _channel.Dispose();
    }

    [Test]
    public async Task Delivery_that_is_the_only_one_is_acknowledged_at_once()
    {
        Come(1);

        await DoneAsync(1);

        Assert.That(_frames, Is.EqualTo(["1"]));
    }

    [Test]
    public async Task Full_group_is_acknowledged_in_one_frame_whatever_its_order()
    {
        Come(6);

        await DoneAsync(2, 1, 4, 3);

        Assert.That(_frames, Is.EqualTo(["up to 4"]));
    }

    [Test]
    public async Task Group_never_reaches_beyond_a_delivery_that_is_not_done()
    {
        Come(6);

        await DoneAsync(1, 2, 4, 5);

        Assert.That(_frames, Is.EqualTo(["up to 2", "4", "5"]), "3 is worked on");
    }

    [Test]
    public async Task What_is_done_behind_a_slow_delivery_is_not_held_up_and_what_comes_later_is_grouped_again()
    {
        Come(9);

        await DoneAsync(2, 3, 4, 5);
        await DoneAsync(1, 6, 7, 8);

        Assert.That(_frames, Is.EqualTo(["2", "3", "4", "5", "up to 8"]));
    }

    [Test]
    public async Task Delivery_waits_for_company_10_ms_at_most()
    {
        Come(3);

        await DoneAsync(1, 2);
        Assert.That(_frames, Is.Empty);
        _time.Advance(TimeSpan.FromMilliseconds(10));

        Assert.That(_frames, Is.EqualTo(["up to 2"]));
    }

    [Test]
    public async Task Delivery_that_goes_back_is_no_end_of_a_group()
    {
        Come(4);

        await _acks.ReturnAsync(_came[2]);
        await DoneAsync(1, 2, 4);

        Assert.That(_frames, Is.EqualTo(["return 3", "up to 4"]));
    }

    [Test]
    public async Task Last_delivery_that_goes_back_is_not_acknowledged()
    {
        Come(3);

        await DoneAsync(1, 2);
        await _acks.ReturnAsync(_came[2]);
        await _acks.FlushAsync();

        Assert.That(_frames, Is.EqualTo(["return 3", "up to 2"]));
    }

    [Test]
    public async Task Group_does_not_reach_beyond_a_delivery_that_is_on_its_way_back()
    {
        var returned = new TaskCompletionSource();
        _channel.BasicNackAsync(default, default, default, default).ReturnsForAnyArgs(_ => new ValueTask(returned.Task));
        _frames.Clear();
        Come(5);

        var returning = _acks.ReturnAsync(_came[0]).AsTask();
        await DoneAsync(2, 3, 4, 5);
        returned.SetResult();
        await returning;

        Assert.That(_frames, Is.EqualTo(["2", "3", "4", "5"]));
    }

    [Test]
    public async Task Frames_do_not_overtake_each_other()
    {
        var written = new TaskCompletionSource();
        _channel.BasicAckAsync(4, true, Arg.Any<CancellationToken>()).Returns(_ => new ValueTask(WriteAsync("up to 4", written.Task)));
        _frames.Clear();
        Come(9);

        var first = DoneAsync(1, 2, 3, 4);
        await DoneAsync(5, 6, 7, 8);
        Assert.That(_frames, Is.Empty, "the connection is busy");
        written.SetResult();
        await first;

        Assert.That(_frames, Is.EqualTo(["up to 4", "up to 8"]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Who_leaves_waits_for_acknowledgements_that_somebody_else_has_begun(CancellationToken cancellationToken)
    {
        var written = new TaskCompletionSource();
        _channel.BasicAckAsync(2, true, Arg.Any<CancellationToken>()).Returns(_ => new ValueTask(WriteAsync("up to 2", written.Task)));
        _frames.Clear();
        Come(4);
        await DoneAsync(1, 2);
        _time.Advance(TimeSpan.FromMilliseconds(10)); // the timer has them in hand
        await _acks.DoneAsync(_came[2]);

        var leaving = _acks.DrainAsync().AsTask();
        var before = leaving.IsCompleted;
        written.SetResult();
        await leaving.WaitAsync(cancellationToken);

        Assert.That(before, Is.False);
        Assert.That(_frames, Is.EqualTo(["up to 2", "3"]));
    }

    private async Task WriteAsync(string frame, Task connection)
    {
        await connection;
        _frames.Add(frame);
    }

    private ValueTask Write(string frame)
    {
        _frames.Add(frame);
        return ValueTask.CompletedTask;
    }

    private void Come(int count)
    {
        for (var tag = 1; tag <= count; tag++)
            _came.Add(_acks.Came((ulong)tag));
    }

    private async Task DoneAsync(params int[] tags)
    {
        foreach (var tag in tags)
            await _acks.DoneAsync(_came[tag - 1]);
    }
}
