using Esb.Host.Management.Flow;

namespace Esb.Tests.Host.Management.Flow;

public sealed class FlowLayoutTests
{
    [Test]
    public void Messages_flow_to_the_right()
    {
        var (places, _, _) = FlowLayout.Of(Shop());

        Assert.That(Graph().Select(edge => places[edge.To].X - places[edge.From].X), Is.All.GreaterThan(0));
    }

    [Test]
    public void Same_graph_has_the_same_places_however_it_is_written()
    {
        var (places, width, height) = FlowLayout.Of(Shop());
        var shuffled = new FlowGraph([.. Shop().Nodes.Reverse()], [.. Shop().Edges.Reverse()]);

        Assert.That(FlowLayout.Of(shuffled).Places, Is.EquivalentTo(places));
        Assert.That((FlowLayout.Of(shuffled).Width, FlowLayout.Of(shuffled).Height), Is.EqualTo((width, height)));
    }

    [Test]
    public void Nodes_do_not_cover_each_other_and_stand_inside()
    {
        var (places, width, height) = FlowLayout.Of(Shop());

        Assert.That(places.Values.Distinct().Count(), Is.EqualTo(places.Count));
        Assert.That(
            places.Values,
            Is.All.Matches<FlowPlace>(place =>
                place.X >= 0 && place.Y >= 0 && place.X + FlowLayout.NodeWidth <= width && place.Y + FlowLayout.NodeHeight <= height
            )
        );
        foreach (var column in places.Values.GroupBy(place => place.X))
        {
            var rows = column.Select(place => place.Y).Order().ToList();
            Assert.That(rows.Zip(rows.Skip(1), (one, next) => next - one), Is.All.GreaterThanOrEqualTo(FlowLayout.NodeHeight));
        }
    }

    [Test]
    public void Endpoints_at_which_messages_leave_stand_in_the_last_column()
    {
        var (places, _, _) = FlowLayout.Of(Shop());

        Assert.That(new[] { places["ledger"].X, places["mail"].X }, Is.All.EqualTo(places.Values.Max(place => place.X)));
    }

    [Test]
    public void Circles_and_edges_to_itself_are_drawn_too()
    {
        var graph = new FlowGraph([Node("a"), Node("b"), Node("c")], [Edge("a", "b"), Edge("b", "c"), Edge("c", "a"), Edge("a", "a")]);

        var (places, _, _) = FlowLayout.Of(graph);

        Assert.That(places.Values.Select(place => place.X).Distinct().Count(), Is.EqualTo(3));
    }

    [Test]
    public void Nothing_and_long_chains_have_a_layout()
    {
        var nodes = Enumerable.Range(0, 5_000).Select(number => Node($"n{number:0000}")).ToList();
        var chain = new FlowGraph(nodes, [.. nodes.Zip(nodes.Skip(1), (one, next) => new FlowEdge(one.Id, next.Id, FlowEdgeKind.Runs))]);

        Assert.That(FlowLayout.Of(new FlowGraph([], [])).Places, Is.Empty);
        Assert.That(FlowLayout.Of(chain).Places, Has.Count.EqualTo(5_000));
    }

    private static IEnumerable<FlowEdge> Graph() => Shop().Edges;

    private static FlowGraph Shop() =>
        new(
            [
                Node("shop", FlowNodeKind.Inbound),
                Node("box", FlowNodeKind.Inbound),
                Node("receive", FlowNodeKind.Process),
                Node("orders", FlowNodeKind.Topic),
                Node("ledger", FlowNodeKind.Outbound),
                Node("mail", FlowNodeKind.Outbound),
                Node("lonely", FlowNodeKind.Topic),
            ],
            [
                Edge("shop", "receive"),
                Edge("box", "receive"),
                Edge("box", "orders"),
                Edge("receive", "orders"),
                Edge("orders", "ledger"),
                Edge("orders", "mail"),
                Edge("receive", "mail"),
            ]
        );

    private static FlowNode Node(string name, FlowNodeKind kind = FlowNodeKind.Process) => new(name, kind, name);

    private static FlowEdge Edge(string from, string to) => new(from, to, FlowEdgeKind.Runs);
}
