export default input => ({
  redro: input.orders.map(order => ({ lobmys: order.symbol, DIreyub: order.buyerID, ecirp: order.price, emulov: order.volume })),
});
